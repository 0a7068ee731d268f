// One trace: what was asked and answered, the graph, the completion, the step that is looked at, and the certificate.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { index, levelOf, LEVELS, optionLabel, OUTCOMES, outcome, problemOf, type Problem, type Step, type Theorem, type Trace, type TraceRow } from "./data";
import { Formula } from "./formula";
import { GraphView } from "./graph";
import { graphOf } from "./layout";
import { ModelView, StepView } from "./step";

interface Props {
  number: number;
  row: TraceRow;
  trace: Trace;
  node: string | null;
  select: (node: string) => void;
  overview: string; // its address
}

export function TraceView({ number, row, trace, node, select, overview }: Props) {
  const problem = problemOf(row);
  const graph = useMemo(() => graphOf(problem, trace), [trace]);
  const shown = node ?? firstOf(trace);
  return (
    <article class="trace" data-trace={number}>
      <Heading problem={problem} row={row} trace={trace} overview={overview} />
      <div class="columns">
        <div class="left">
          <section class="card graph-card" aria-label="Proof graph">
            <header><h2>Proof graph</h2><Legend /></header>
            {graph !== null ? (
              <GraphView graph={graph} selected={shown} select={select} />
            ) : (
              <p class="quiet">{trace.steps.length === 0 ? "There is no action to draw." : "The proof is too large to draw."}</p>
            )}
          </section>
          <Completion trace={trace} node={shown} select={select} />
          <Premises problem={problem} trace={trace} node={shown} select={select} />
        </div>
        <div class="right">
          {shown !== null && <Inspector problem={problem} trace={trace} node={shown} select={select} />}
          <Certificate row={row} problem={problem} trace={trace} />
        </div>
      </div>
    </article>
  );
}

/** What is looked at first: the first step that fails, of those that the answer rests on, or else the answer, if any. */
function firstOf(trace: Trace): string | null {
  if (trace.steps.length === 0) return null;
  const counts = (step: Step) => step.report.in_closure || trace.closure.length === 0;
  const failing = trace.steps.findIndex((step) => step.report.signal < 1 && counts(step));
  return `a${failing >= 0 ? failing : trace.steps.length - 1}`;
}

function Heading({ problem, row, trace, overview }: { problem: Problem; row: TraceRow; trace: Trace; overview: string }) {
  const what = outcome(row);
  const answer = optionLabel(problem, row.answer);
  const wanted = optionLabel(problem, problem.answer);
  return (
    <header class="heading">
      <p class="where">
        <a href={overview} class="back">← overview</a> {problem.id} · sample {row.sample}
        {problem.difficulty !== undefined && ` · ${problem.difficulty}`}
      </p>
      <h1>{problem.question ?? problem.id}</h1>
      <p class="answer">
        <span class={`badge ${what}`} title={OUTCOMES[what].meaning}>{OUTCOMES[what].label}</span>
        {answer === undefined ? "no option is selected" : <>answers <strong>{answer}</strong></>}
        {row.correct === true && ", which is right"}
        {row.correct === false && wanted !== undefined && <>; the reference answer is <strong>{wanted}</strong></>}
      </p>
      {trace.consistency !== "consistent" && <p class="warning">The premises are {trace.consistency}: {trace.consistency === "inconsistent" ? "anything follows from them." : "no model of them was found."}</p>}
      {answer !== undefined && trace.faults !== undefined && <p class={row.verified ? "warning entailed" : "warning"}>The answer is {row.verified ? "verified, but not rule-verified" : "not verified"}: {trace.faults.join("; ")}.</p>}
      {trace.cut && <p class="warning partial">This trace is hard: the budget for what the page shows is spent, so proofs or repairs of some steps are missing. The verdicts are complete.</p>}
      {trace.open !== undefined && (
        <details class="open">
          <summary>The premises leave the goal open: two worlds show it</summary>
          <div class="worlds">
            <ModelView model={trace.open[0]} caption="The premises are true, the goal is false" />
            <ModelView model={trace.open[1]} caption="The premises are true, the goal is true" />
          </div>
        </details>
      )}
      {(problem.notes ?? []).map((note) => <p class="quiet small">{note}</p>)}
    </header>
  );
}

function Legend() {
  return (
    <ul class="legend">
      <li><i class="premise" />premise</li>
      {[...LEVELS].reverse().map((level) => <li title={level.meaning}><i class={level.name} />{level.name}</li>)}
      <li><i class="outside" />not in the closure</li>
    </ul>
  );
}

function Completion({ trace, node, select }: { trace: Trace; node: string | null; select: (node: string) => void }) {
  const frame = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const chosen = frame.current?.querySelector<HTMLElement>(".chosen");
    if (chosen != null) frame.current!.scrollTop = chosen.offsetTop - frame.current!.clientHeight / 3;
  }, [trace, node]);
  return (
    <section class="card" aria-label="Completion">
      <header><h2>What the model wrote</h2></header>
      <pre class="completion" ref={frame} tabIndex={0} aria-label="Completion, its actions highlighted">
        {trace.segments.map(([text, number]) => {
          if (number < 0) return text;
          const { report } = trace.steps[number]!;
          const level = LEVELS[levelOf(report.signal)]!;
          const chosen = node === `a${number}`;
          return (
            <mark
              class={`${level.name}${report.in_closure ? "" : " outside"}${chosen ? " chosen" : ""}`}
              role="button"
              tabIndex={0}
              aria-pressed={chosen}
              title={`${report.id ?? `action ${number + 1}`}: ${level.name}`}
              data-action={number}
              onClick={() => select(`a${number}`)}
              onKeyDown={(event) => event.key === "Enter" && select(`a${number}`)}
            >
              {text}
            </mark>
          );
        })}
      </pre>
    </section>
  );
}

function Premises({ problem, trace, node, select }: { problem: Problem; trace: Trace; node: string | null; select: (node: string) => void }) {
  return (
    <section class="card" aria-label="Premises">
      <header><h2>Premises</h2></header>
      <ul class="premises">
        {problem.premises.map((premise) => (
          <li class={`${trace.closure.includes(premise.id) ? "" : "outside"}${node === `p${premise.id}` ? " chosen" : ""}`}>
            <button type="button" class="name" onClick={() => select(`p${premise.id}`)}>{premise.id}</button>
            <div>
              {premise.text && <p>{premise.text}</p>}
              <Formula text={premise.formula} />
            </div>
          </li>
        ))}
      </ul>
      <h3>Options</h3>
      <ul class="premises">
        {problem.options.map((option) => (
          <li class={option.id === problem.answer ? "" : "outside"}>
            <span class="name plain">{option.label}</span>
            <div><Formula text={option.formula} />{option.id === problem.answer && <span class="code"> reference answer</span>}</div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Inspector({ problem, trace, node, select }: { problem: Problem; trace: Trace; node: string; select: (node: string) => void }) {
  const name = node.slice(1);
  if (node.startsWith("a") && trace.steps[Number(name)] !== undefined) {
    return <StepView problem={problem} trace={trace} number={Number(name)} select={select} />;
  }
  const premise = node.startsWith("p") ? problem.premises.find((candidate) => candidate.id === name) : undefined;
  const users = trace.steps.flatMap((step, number) => (step.report.dependencies?.includes(name) ? [number] : []));
  return (
    <section class="card step" aria-label={premise === undefined ? name : `Premise ${name}`} aria-live="polite">
      <header>
        <h2>{name}</h2>
        <span class={`pill ${premise === undefined ? "failed" : "plain"}`}>{premise === undefined ? "names nothing earlier" : "premise"}</span>
      </header>
      {premise !== undefined && <p class="conclusion"><Formula text={premise.formula} /></p>}
      {premise?.text && <p class="english">{premise.text}</p>}
      <h3>Used by</h3>
      {users.length === 0 && <p class="quiet">no action</p>}
      <ul class="dependencies">
        {users.map((number) => {
          const step = trace.steps[number]!;
          return (
            <li>
              <button type="button" class="name" onClick={() => select(`a${number}`)}>{step.report.id ?? `action ${number + 1}`}</button>
              <Formula text={step.formula ?? step.report.conclusion ?? ""} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Certificate({ row, problem, trace }: { row: TraceRow; problem: Problem; trace: Trace }) {
  const { certificate } = trace;
  return (
    <section class="card certificate" aria-label="Certificate">
      <header><h2>Certificate</h2></header>
      {certificate !== undefined ? (
        <Texts theorem={certificate} />
      ) : (
        <>
          <p class="quiet small">
            {trace.no_certificate || (row.verified
              ? `Certificates are long, so only the first ${index.certificates} verified answers have theirs in this page. This makes it:`
              : "Only a verified answer has one.")}
          </p>
          {row.verified && !trace.no_certificate && (
            <Copied text={`proof-r1 certify --problems PROBLEMS --completions COMPLETIONS --rules ${index.rules} --id '${problem.id.replaceAll("'", "'\\''")}' --out certificates`} />
          )}
        </>
      )}
    </section>
  );
}

function Texts({ theorem }: { theorem: Theorem }) {
  const [system, setSystem] = useState<"lean" | "isabelle">("lean");
  const has = theorem.isabelle !== undefined;
  return (
    <>
      <p class="small">
        {theorem.accepted ? <span class="pill passed">✓ theorem</span> : <span class="pill plain">{theorem.said ? "not accepted" : "not checked here"}</span>}{" "}
        <span class="quiet">
          {theorem.accepted ? `${theorem.said} accepts it` : theorem.said || "proof-r1 certify has the kernel check it"}
        </span>
      </p>
      {has && (
        <div class="switch" role="group" aria-label="Proof assistant">
          {(["lean", "isabelle"] as const).map((name) => (
            <button type="button" aria-pressed={system === name} onClick={() => setSystem(name)}>{name === "lean" ? "Lean 4" : "Isabelle"}</button>
          ))}
        </div>
      )}
      <Copied text={(has && system === "isabelle" ? theorem.isabelle : theorem.lean)!} />
    </>
  );
}

/** A text with a button that copies it; where the browser forbids that, the text is selected. */
function Copied({ text }: { text: string }) {
  const shown = useRef<HTMLPreElement>(null);
  const [said, setSaid] = useState("copy");
  useEffect(() => setSaid("copy"), [text]);
  const copy = () => {
    getSelection()?.selectAllChildren(shown.current!);
    const done = navigator.clipboard === undefined ? Promise.reject(new Error("no clipboard")) : navigator.clipboard.writeText(text);
    done.then(() => setSaid("copied"), () => setSaid("selected: press Ctrl C"));
  };
  return (
    <div class="copied">
      <button type="button" onClick={copy} aria-live="polite">{said}</button>
      <pre ref={shown} tabIndex={0} aria-label="Text to copy">{text}</pre>
    </div>
  );
}
