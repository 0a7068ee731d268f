// All traces at a glance: scores, what became of answers and steps, and which rules and faults there are.

import { index, LEVELS, NOTES, outcome, OUTCOMES, words, type Estimate, type Outcome, type Table } from "./data";
import { counted, NO_FILTER, type Filter } from "./select";

const isEstimate = (cell: unknown): cell is Estimate => typeof cell === "object" && cell !== null;

/** A score's name without its unit, and whether it is shown in percent. */
const column = (name: string): [string, boolean] => (name.endsWith(" (%)") ? [name.slice(0, -4), true] : [name, false]);

/** A score as text; there is none where nothing was counted. */
const round = (value: number | null, percent: boolean) => (value === null ? "–" : percent ? (100 * value).toFixed(1) : value.toFixed(3));

interface Score {
  name: string;
  meaning: string;
  more: string; // shown on hover
}

const SCORES: Record<string, Score> = {
  Avg: { name: "Right answers", meaning: "share of outputs whose answer is right", more: "Avg@K: the mean over K samples of each problem." },
  Pass: { name: "Solved problems", meaning: "share of problems with a right answer among the samples", more: "Pass@K: at least one of K samples of a problem is right." },
  FVR: {
    name: "Entailed steps",
    meaning: "share of steps that are entailed; cascades are left out",
    more: "FVR. A step that depends on an earlier rejected action is a cascade: the fault is the earlier action’s. The strict rate counts every step of every parsed output.",
  },
  RVR: {
    name: "Steps by their rule",
    meaning: "share of steps that are instances of their rule; cascades are left out",
    more: "RVR. Entailed steps that are also instances of the rule that they name. The strict rate counts every step of every parsed output.",
  },
  RGD: {
    name: "Distance to reference length",
    meaning: "0 if proofs are as long as the reference proofs",
    more: "RGD: the mean of |log(steps / steps of the reference proof)| over parsed outputs with a reference proof. Less is better.",
  },
  "Right and verified": { name: "Right and verified", meaning: "share of outputs whose answer is right and verified", more: "Verified: the last action states the answer, and every step that it rests on is entailed." },
};
const SPREAD = "The number after ± is a standard deviation over the samples; for Pass@K it is the standard error over the problems.";

export function Overview({ setFilter }: { setFilter: (filter: Filter) => void }) {
  const problems = index.problems.length;
  const only = (part: Partial<Filter>) => setFilter({ ...NO_FILTER, ...part });
  return (
    <article class="overview">
      <header class="heading">
        <h1>{index.title}</h1>
        <p class="quiet">
          {index.traces.length.toLocaleString("en")} traces of {problems.toLocaleString("en")} {problems === 1 ? "problem" : "problems"}, checked step by step
          under the rules “{index.rules}” by {index.solver}
        </p>
      </header>
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
        Made by {index.package}. Each step shows the evidence for its verdict: a rechecked proof, a rechecked countermodel, or only the solver’s answer.
      </footer>
    </article>
  );
}

function scores(title: string, group = "overall"): [string, Estimate][] {
  const row = index.tables.find((table) => table.title === title)?.rows.find((candidate) => candidate["difficulty"] === group);
  return Object.entries(row ?? {}).flatMap(([name, cell]) => (isEstimate(cell) && cell.denominator > 0 ? [[name, cell]] : []));
}

function Tiles() {
  const shown = [...scores("Scores"), ...scores("Answers and proofs").filter(([name]) => name.startsWith("Right and verified"))];
  if (shown.length === 0) return null;
  const strict = new Map(shown.filter(([name]) => name.startsWith("Strict ")));
  const said = ({ value, spread }: Estimate, percent: boolean) =>
    `${round(value, percent)}${percent ? "%" : ""}${spread === null ? "" : ` ± ${round(spread, percent)}`}`;
  return (
    <dl class="tiles">
      {shown.filter(([name]) => !strict.has(name)).map(([name, estimate]) => {
        const { value, spread } = estimate;
        const [label, percent] = column(name);
        const score = SCORES[label.split("@")[0]!];
        const other = strict.get(`Strict ${name}`);
        return (
          <div class="tile" title={`${score?.more ?? ""} ${SPREAD}`.trim()}>
            <dt>{score?.name ?? label} {score !== undefined && score.name !== label && <abbr>{label}</abbr>}</dt>
            <dd class="number">{round(value, percent)}{percent && <small>%</small>}{spread !== null && <small class="spread"> ± {round(spread, percent)} {label.startsWith("Pass") ? "s.e." : "s.d."}</small>}</dd>
            {other !== undefined && <dd class="strict">strict {said(other, percent)}</dd>}
            <dd class="meaning">{score?.meaning}</dd>
          </div>
        );
      })}
    </dl>
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
  return <section class="card"><h2>Answers</h2><Stacked parts={parts} label="Answers" /></section>;
}

function Steps() {
  const counts = [0, 0, 0, 0];
  for (const row of index.traces) for (const digit of row.steps) counts[Number(digit) & 3]! += 1;
  const parts = LEVELS.map((level, number) => ({ name: `${level.name}, signal ${level.signal}`, count: counts[number]!, kind: level.name, meaning: level.meaning }));
  return <section class="card"><h2>Steps</h2><Stacked parts={parts.reverse()} label="Steps by signal" /></section>;
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

