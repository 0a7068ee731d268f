// All traces at a glance: scores, what became of answers and steps, and which rules and faults there are.

import { Formula } from "./formula";
import { index, LEVELS, NOTES, outcome, OUTCOMES, problemOf, words, type Estimate, type Outcome, type Table } from "./data";
import { counted, NO_FILTER, type Filter } from "./select";

const isEstimate = (cell: unknown): cell is Estimate => typeof cell === "object" && cell !== null;

/** A score's name without its unit, and whether it is shown in percent. */
const column = (name: string): [string, boolean] => (name.endsWith(" (%)") ? [name.slice(0, -4), true] : [name, false]);

/** A score as text; there is none where nothing was counted. */
const round = (value: number | null, percent: boolean) => (value === null ? "–" : percent ? (100 * value).toFixed(1) : value.toFixed(3));

interface Score {
  name: string;
  meaning: string;
  of: string; // what the denominator counts
  more: string; // shown on hover
}

const SCORES: Record<string, Score> = {
  Avg: { name: "Right answers", meaning: "share of outputs whose answer is right", of: "outputs", more: "Avg@K: the mean over K samples of each problem." },
  Pass: { name: "Solved problems", meaning: "share of problems with a right answer among the samples", of: "problems", more: "Pass@K: at least one of K samples of a problem is right." },
  FVR: {
    name: "Entailed steps",
    meaning: "share of steps that are entailed; cascades are left out",
    of: "steps",
    more: "FVR. A step that depends on an earlier rejected action is a cascade: the fault is the earlier action’s. The strict rate counts every step of every parsed output.",
  },
  RVR: {
    name: "Steps by their rule",
    meaning: "share of steps that are instances of their rule; cascades are left out",
    of: "steps",
    more: "RVR. Entailed steps that are also instances of the rule that they name. The strict rate counts every step of every parsed output.",
  },
  RGD: {
    name: "Distance to reference length",
    meaning: "0 if proofs are as long as the reference proofs",
    of: "outputs",
    more: "RGD: the mean of |log(steps / steps of the reference proof)| over parsed outputs with a reference proof. Less is better.",
  },
  "Right and verified": { name: "Right and verified", meaning: "share of outputs whose answer is right and verified", of: "outputs", more: "Verified: the last action states the answer, and every step that it rests on is entailed." },
};
/** What the number after ± is. */
const spreadOf = (label: string) => (label.startsWith("Pass") ? "standard error over problems" : "standard deviation over samples");

/** The name of a solver without its version. */
const solver = index.solver.startsWith("embedded") ? "the engine of this package" : index.solver.replace(/ [\d.]+$/, "");

export function Overview({ setFilter, address }: { setFilter: (filter: Filter) => void; address: (number: number, node: string) => string }) {
  const problems = index.problems.length;
  const only = (part: Partial<Filter>) => setFilter({ ...NO_FILTER, ...part });
  return (
    <article class="overview">
      <header class="heading">
        <h1>{index.title}</h1>
        <p class="quiet">
          {index.traces.length.toLocaleString("en")} traces of {problems.toLocaleString("en")} {problems === 1 ? "problem" : "problems"}. Each step was checked
          under the rules “{index.rules}” by {solver}.
        </p>
      </header>
      <First only={only} address={address} />
      <Tiles />
      <div class="charts">
        <Answers only={only} />
        <Steps />
        <Rules only={only} />
        <Faults only={only} />
        <Difficulties />
        <Lengths />
      </div>
      <details class="card tables">
        <summary>All numbers</summary>
        {index.tables.map((table) => <TableView table={table} />)}
      </details>
      <footer class="quiet small">
        {index.evidence === "none" && "No evidence was checked: all verdicts rest on the solver. "}
        {index.unsupported > 0 && `${index.unsupported} steps have an answer without evidence; they verify no answer. `}
        Made by {index.package} with the solver {index.solver}. Each step shows the evidence for its verdict: a rechecked proof, a rechecked countermodel, or only the solver’s answer.
      </footer>
    </article>
  );
}

function scores(title: string, group = "overall"): [string, Estimate][] {
  const row = index.tables.find((table) => table.title === title)?.rows.find((candidate) => candidate["difficulty"] === group);
  return Object.entries(row ?? {}).flatMap(([name, cell]) => (isEstimate(cell) && cell.denominator > 0 ? [[name, cell]] : []));
}

/** What went wrong first: the commonest kind of first error, and its first example. */
function First({ only, address }: { only: (part: Partial<Filter>) => void; address: (number: number, node: string) => string }) {
  const first = index.first;
  if (first === undefined) return <section class="card first"><h2>What went wrong first</h2><p>Nothing: every step of every trace passes all four checks.</p></section>;
  const row = index.traces[first.trace]!;
  const problem = problemOf(row);
  return (
    <section class="card first">
      <h2>What went wrong first</h2>
      <p>
        <button type="button" class="kind" onClick={() => only({ code: first.code })}>{words(first.code)}</button> is the first error
        of {first.count.toLocaleString("en")} of the {first.flawed.toLocaleString("en")} traces with an error. The first of them:
      </p>
      <blockquote>
        <p><a href={address(first.trace, `a${first.action}`)}>{problem.id} #{row.sample}, {first.step === undefined ? `action ${first.action + 1}` : `step ${first.step}`}</a>{problem.question !== undefined && <span class="quiet"> {problem.question}</span>}</p>
        {first.conclusion !== undefined && (
          <p>
            <Formula text={first.conclusion} />
            <span class="quiet"> from {first.dependencies?.join(", ") ?? "nothing"}{first.rule !== undefined && `, by ${words(first.rule)}`}</span>
          </p>
        )}
        <p class="why">{first.message}</p>
      </blockquote>
    </section>
  );
}

/** How many outputs the rates leave out, because their label is Uncertain. */
const apart = Number(index.tables.find((table) => table.title === "Left out")?.rows.find((row) => String(row["what"]).startsWith("outputs: label is Uncertain"))?.["count"] ?? 0);

function Tiles() {
  const shown = [...scores("Scores"), ...scores("Answers and proofs").filter(([name]) => name.startsWith("Right and verified"))];
  if (shown.length === 0) return null;
  const strict = new Map(shown.filter(([name]) => name.startsWith("Strict ")));
  const said = ({ value, numerator, denominator }: Estimate, percent: boolean) => `${round(value, percent)}${percent ? "%" : ""} (${numerator} of ${denominator} steps)`;
  return (
    <>
    <dl class="tiles">
      {shown.filter(([name]) => !strict.has(name)).map(([name, estimate]) => {
        const { value, spread } = estimate;
        const [label, percent] = column(name);
        const score = SCORES[label.split("@")[0]!];
        const other = strict.get(`Strict ${name}`);
        return (
          <div class="tile" title={score?.more}>
            <dt>{score?.name ?? label} {score !== undefined && score.name !== label && <abbr>{label}</abbr>}</dt>
            <dd class="number">{round(value, percent)}{percent && <small>%</small>}</dd>
            {score !== undefined && <dd class="of">{percent ? `${estimate.numerator.toLocaleString("en")} of ${estimate.denominator.toLocaleString("en")} ${score.of}` : `mean of ${estimate.denominator.toLocaleString("en")} ${score.of}`}</dd>}
            {other !== undefined && <dd class="strict">strict {said(other, percent)}</dd>}
            <dd class="meaning">{score?.meaning}</dd>
            {spread !== null && <dd class="meaning">{spreadOf(label)}: {round(spread, percent)}{percent && " points"}</dd>}
          </div>
        );
      })}
    </dl>
    {apart > 0 && (
      <p class="quiet small apart">
        These rates leave out {apart.toLocaleString("en")} {apart === 1 ? "output" : "outputs"} whose label is Uncertain. The panels below count all {index.traces.length.toLocaleString("en")} traces.
      </p>
    )}
    </>
  );
}

const share = (part: number, whole: number) => `${(whole === 0 ? 0 : (100 * part) / whole).toFixed(part === whole ? 0 : 1)}%`;

function Stacked({ parts, label }: { parts: { name: string; count: number; kind: string; meaning: string; choose?: () => void }[]; label: string }) {
  const whole = parts.reduce((sum, part) => sum + part.count, 0);
  return (
    <>
      <div class="stacked" role="img" aria-label={`${label}: ${parts.map((part) => `${part.count} ${part.name}`).join(", ")}`}>
        {parts.map((part) => part.count > 0 && <i class={part.kind} style={{ flexGrow: part.count }} />)}
      </div>
      <ul class="keys">
        {parts.map((part) => (
          <li title={part.meaning}>
            <i class={part.kind} />
            {part.choose !== undefined ? <button type="button" onClick={part.choose}>{part.name}</button> : <span>{part.name}</span>}
            <span class="value">{part.count.toLocaleString("en")}</span>
            <span class="share">{share(part.count, whole)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Answers({ only }: { only: (part: Partial<Filter>) => void }) {
  const counts = new Map(counted((row) => [outcome(row)]));
  const parts = (Object.keys(OUTCOMES) as Outcome[]).map((what) => ({
    name: OUTCOMES[what].label,
    count: counts.get(what) ?? 0,
    kind: what,
    meaning: OUTCOMES[what].meaning,
    choose: () => only({ outcome: what }),
  }));
  return <section class="card"><h2>Answers</h2><p class="quiet small">Of all {index.traces.length.toLocaleString("en")} traces.</p><Stacked parts={parts} label="Answers" /></section>;
}

function Steps() {
  const counts = [0, 0, 0, 0];
  for (const row of index.traces) for (const digit of row.steps) counts[Number(digit) & 3]! += 1;
  const parts = LEVELS.map((level, number) => ({ name: `${level.name}, signal ${level.signal}`, count: counts[number]!, kind: level.name, meaning: level.meaning }));
  return <section class="card"><h2>Steps</h2><p class="quiet small">Of all {counts.reduce((sum, count) => sum + count, 0).toLocaleString("en")} steps.</p><Stacked parts={parts.reverse()} label="Steps by signal" /></section>;
}

interface Bar {
  name: string;
  parts: { kind: string; count: number }[]; // each from the left, the longest first
  said: string;
  choose: () => void;
}

function Bars({ bars }: { bars: Bar[] }) {
  const longest = Math.max(1, ...bars.map((bar) => bar.parts[0]!.count));
  return (
    <ul class="bars">
      {bars.map((bar) => (
        <li>
          <button type="button" onClick={bar.choose}>{bar.name}</button>
          <span class="track" aria-hidden="true">{bar.parts.map((part) => <i class={part.kind} style={{ width: `${(100 * part.count) / longest}%` }} />)}</span>
          <span class="value">{bar.said}</span>
        </li>
      ))}
    </ul>
  );
}

function Rules({ only }: { only: (part: Partial<Filter>) => void }) {
  const rows = (index.tables.find((table) => table.title === "Steps by declared rule")?.rows ?? []) as Record<string, string | number>[];
  const bars = rows
    .map((row) => ({ rule: String(row["rule"]), steps: Number(row["steps"]), entailed: Number(row["semantic"]), holds: Number(row["rule holds"]) }))
    .sort((one, other) => other.steps - one.steps)
    .slice(0, 16)
    .map(({ rule, steps, entailed, holds }) => ({
      name: words(rule),
      parts: [{ kind: "failed", count: steps }, { kind: "partial", count: entailed }, { kind: "passed", count: holds }],
      said: `${holds.toLocaleString("en")} of ${steps.toLocaleString("en")}`,
      choose: () => only(rule === "INVALID_RULE" ? { code: "UNKNOWN_RULE" } : { rule }),
    }));
  if (bars.length === 0) return null;
  return <section class="card"><h2>Rules</h2><p class="quiet small">Steps that name each rule: instances of it, entailed otherwise, and not entailed.</p><Bars bars={bars} /></section>;
}

function Faults({ only }: { only: (part: Partial<Filter>) => void }) {
  const bars = counted((row) => row.codes ?? []).slice(0, 12).map(([code, count]) => ({
    name: words(code),
    parts: [{ kind: NOTES.has(code) ? "idle" : "fault", count }],
    said: `${count.toLocaleString("en")}`,
    choose: () => only({ code }),
  }));
  if (bars.length === 0) return null;
  return <section class="card"><h2>Findings</h2><p class="quiet small">Number of traces with each finding.</p><Bars bars={bars} /></section>;
}

function Difficulties() {
  const groups = [...new Set(index.problems.map((problem) => problem.difficulty ?? ""))].filter((name) => scores("Scores", name).length > 0);
  if (groups.length < 2) return null;
  const of = (title: string, group: string, start: string) => scores(title, group).find(([name]) => name.startsWith(start))?.[1].value ?? 0;
  return (
    <section class="card">
      <h2>Difficulty</h2>
      <p class="quiet small">Answers that are right, of them verified, and of them rule-verified.</p>
      <ul class="bars three">
        {groups.map((group) => {
          const right = of("Scores", group, "Avg");
          const verified = of("Answers and proofs", group, "Right and verified");
          const ruled = of("Answers and proofs", group, "Right and rule-verified");
          return (
            <li>
              <span>{group}</span>
              <span class="track" aria-hidden="true"><i class="unverified" style={{ width: `${100 * right}%` }} /><i class="partial" style={{ width: `${100 * verified}%` }} /><i class="passed" style={{ width: `${100 * ruled}%` }} /></span>
              <span class="value">{share(right, 1)} · {share(verified, 1)} · {share(ruled, 1)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** How many steps the answers rest on, by outcome, as columns. */
function Lengths() {
  const LONGEST = 16;
  const columns = Array.from({ length: LONGEST + 1 }, () => ({ ruled: 0, other: 0 }));
  for (const row of index.traces) {
    const steps = [...row.steps].filter((digit) => Number(digit) & 4).length;
    if (steps > 0) columns[Math.min(LONGEST, steps - 1)]![outcome(row) === "rule_verified" ? "ruled" : "other"] += 1;
  }
  const used = columns.findLastIndex((column) => column.ruled + column.other > 0);
  if (used < 1) return null;
  const shown = columns.slice(0, used + 1);
  const highest = Math.max(...shown.map((column) => column.ruled + column.other));
  const said = shown.map((column, length) => `${length === LONGEST ? `${LONGEST} or more` : length} steps: ${column.ruled + column.other}`).join(", ");
  return (
    <section class="card">
      <h2>Length of proofs</h2>
      <p class="quiet small">Steps between premises and answer; traces, the rule-verified ones in green.</p>
      <div class="columns-chart" role="img" aria-label={said}>
        {shown.map((column, length) => (
          <div title={`${length} steps: ${column.ruled} rule-verified, ${column.other} not`}>
            <span class="stack">
              <i class="idle" style={{ height: `${(100 * column.other) / highest}%` }} />
              <i class="passed" style={{ height: `${(100 * column.ruled) / highest}%` }} />
            </span>
            <b>{length === LONGEST ? `${LONGEST}+` : length}</b>
          </div>
        ))}
      </div>
    </section>
  );
}

function TableView({ table }: { table: Table }) {
  const names = Object.keys(table.rows[0] ?? {});
  const shown = (name: string, cell: string | number | Estimate | undefined) => {
    if (!isEstimate(cell)) return cell;
    const percent = column(name)[1];
    return `${round(cell.value, percent)}${cell.spread === null ? "" : ` ± ${round(cell.spread, percent)}`}`;
  };
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={table.title}>
      <table class="numbers">
        <caption>{table.title}</caption>
        <thead><tr>{names.map((name) => <th scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {table.rows.map((row) => (
            <tr>{names.map((name, place) => (place === 0 ? <th scope="row">{shown(name, row[name])}</th> : <td>{shown(name, row[name])}</td>))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

