// One step: verdicts, reasons, the instance of its rule, and the evidence.

import { index, LEVELS, levelOf, NOTES, words, type Model, type Problem, type ProofRow, type Step, type Trace } from "./data";
import { Formula } from "./formula";

const CHECKS = [
  ["schema", "well formed", "Is it well formed?"],
  ["semantic", "entailed", "Do its accepted dependencies entail its conclusion?"],
  ["rule", "rule", "Is it an instance of the rule that it names?"],
  ["progress", "progress", "Does it say something that was not said before?"],
] as const;

export function StepView({ problem, trace, number, select }: { problem: Problem; trace: Trace; number: number; select: (key: string) => void }) {
  const step = trace.steps[number]!;
  const { report } = step;
  const level = LEVELS[levelOf(report.signal)]!;
  const text = step.formula ?? report.conclusion;
  return (
    <section class="card step" aria-label={`Step ${report.id ?? number + 1}`} aria-live="polite">
      <header>
        <h2>{report.id ?? `action ${number + 1}`}</h2>
        <span class={`pill ${level.name}`}>{level.mark} signal {report.signal}</span>
        {report.terminal && <span class="pill plain">binds the answer</span>}
        {!report.in_closure && <span class="pill plain">not in the closure</span>}
      </header>
      {text !== undefined && <p class="conclusion"><Formula text={text} /></p>}
      {report.conclusion !== undefined && step.formula !== undefined && report.conclusion !== step.formula && (
        <p class="quiet small">written <code>{report.conclusion}</code></p>
      )}
      <ul class="checks">
        {CHECKS.map(([key, name, meaning]) => (
          <li class={report[key] ? "yes" : "no"} title={meaning}>
            <span aria-hidden="true">{report[key] ? "✓" : "✗"}</span> {name}
            <span class="hidden">: {report[key] ? "yes" : "no"}</span>
          </li>
        ))}
      </ul>
      {(report.findings ?? []).length > 0 && (
        <ul class="findings">
          {report.findings!.map((finding) => (
            <li class={NOTES.has(finding.code) ? "note" : "fault"}>
              {finding.message} <span class="code">{finding.code}</span>
            </li>
          ))}
        </ul>
      )}
      {step.repairs !== undefined && (
        <p class="repair small">
          It would follow with{" "}
          {step.repairs.map((name, place) => (
            <>
              {place > 0 && (place === step.repairs!.length - 1 ? " or " : ", ")}
              <button type="button" class="name" onClick={() => select(keyOf(problem, trace, number, name))}>{name}</button>
            </>
          ))}{" "}
          as a further dependency.
        </p>
      )}
      <h3>From</h3>
      <Dependencies problem={problem} trace={trace} number={number} select={select} />
      <h3>By</h3>
      <RuleView step={step} />
      {(step.proof !== undefined || report.countermodel !== undefined || report.evidence !== undefined) && <h3>Evidence</h3>}
      {report.evidence !== undefined && <p class="quiet small">{EVIDENCE[report.evidence][report.semantic ? 0 : 1]}</p>}
      {step.proof !== undefined && <ProofView rows={step.proof} />}
      {report.countermodel !== undefined && (
        <ModelView model={report.countermodel} caption="A world in which the dependencies are true and the conclusion is false" />
      )}
    </section>
  );
}

/** The node of the graph that a name means for the step of that number. */
function keyOf(problem: Problem, trace: Trace, number: number, name: string): string {
  if (problem.premises.some((premise) => premise.id === name)) return `p${name}`;
  return `a${trace.steps.findIndex((step, place) => place < number && step.report.id === name)}`;
}

const EVIDENCE = {
  kernel: ["This proof was checked, and Lean’s kernel accepts it.", "This countermodel was checked, and Lean’s kernel accepts it."],
  checked: ["This proof was checked again by the proof checker.", "This countermodel was checked again by the evaluator."],
  unsupported: ["The solver’s answer, without a proof.", "The solver’s answer, without a countermodel."],
} as const;

function Dependencies({ problem, trace, number, select }: { problem: Problem; trace: Trace; number: number; select: (key: string) => void }) {
  const { report } = trace.steps[number]!;
  const names = report.dependencies ?? [];
  if (names.length === 0) return <p class="quiet">no dependencies</p>;
  return (
    <ul class="dependencies">
      {names.map((name) => {
        const premise = problem.premises.find((candidate) => candidate.id === name);
        const earlier = trace.steps.findIndex((step, place) => place < number && step.report.id === name);
        const formula = premise?.formula ?? trace.steps[earlier]?.formula;
        const key = keyOf(problem, trace, number, name);
        const idle = report.used !== undefined && !report.used.includes(name);
        const known = premise !== undefined || earlier >= 0;
        return (
          <li class={idle ? "idle" : ""}>
            {known ? <button type="button" class="name" onClick={() => select(key)}>{name}</button> : <span class="name missing">{name}</span>}
            {formula !== undefined ? <Formula text={formula} /> : <span class="quiet">{known ? "no formula" : "names nothing earlier"}</span>}
            {idle && <span class="code">not used by the proof</span>}
          </li>
        );
      })}
    </ul>
  );
}

function RuleView({ step: { report } }: { step: Step }) {
  if (report.declared_rule === undefined) return <p class="quiet">no rule is named</p>;
  const meaning = index.catalogue.rules[report.declared_rule];
  const { instance } = report;
  const schema = instance === undefined ? undefined : index.catalogue.schemata[instance.schema];
  return (
    <>
      <p class="rule-name">{words(report.declared_rule)}</p>
      {meaning !== undefined && <p class="quiet small">{meaning}</p>}
      {schema !== undefined && (
        <p class="schema">
          <span>{schema.premises.map((premise) => <Formula text={premise} />)}</span>
          <span class="line"><span class="hidden">hence</span></span>
          <Formula text={schema.conclusion} />
        </p>
      )}
      {schema !== undefined && (
        <p class="quiet small">
          {schema.kernels.length > 0 ? `a theorem by the kernel of ${schema.kernels.join(" and of ")}` : "no kernel has checked it"}
        </p>
      )}
      {instance !== undefined && Object.keys(instance.substitution).length > 0 && (
        <dl class="substitution" aria-label="Substitution">
          {Object.entries(instance.substitution).map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd><Formula text={value} /></dd>
            </>
          ))}
        </dl>
      )}
      {instance !== undefined && instance.principal.length > 0 && (
        <p class="quiet small">
          principal premise {instance.principal.join(", ")}
          {instance.minor.length > 0 && <>; the others entail {instance.minor.map((minor) => <Formula text={minor} />)}</>}
        </p>
      )}
    </>
  );
}

export function ProofView({ rows }: { rows: ProofRow[] }) {
  return (
    <table class="proof">
      <caption class="hidden">The proof as natural deduction</caption>
      <tbody>
        {rows.map(([number, depth, text, reason, uses, block]) => (
          <tr>
            <th scope="row">{number || ""}</th>
            <td>
              <span class="bars">{Array.from({ length: depth }, () => <i />)}</span>
              {number === 0 ? <>let <Formula text={text} /> be</> : <Formula text={text} />}
            </td>
            <td class="reason">
              {reason} {uses.join(", ")}{block !== null && `${block[0]}–${block[1]}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A finite structure: a row for each element with the unary predicates, and what is left below. */
export function ModelView({ model, caption }: { model: Model; caption: string }) {
  const sorts = Object.entries(model.domains);
  const single = sorts.length === 1; // with several, the same number means several elements
  const constants = Object.entries(model.functions).filter(([, table]) => table.length === 1 && table[0]![0].length === 0);
  const others = Object.entries(model.functions).filter(([name]) => !single || !constants.some(([constant]) => constant === name));
  const unary = Object.entries(model.predicates).filter(([, rows]) => single && rows[0]?.length === 1);
  const rest = Object.entries(model.predicates).filter(([name]) => !unary.some(([predicate]) => predicate === name));
  const names = (element: number) => constants.filter(([, table]) => table[0]![1] === element).map(([name]) => name);
  const called = (element: number) => (single ? (names(element)[0] ?? `${element}`) : `${element}`);
  return (
    <div class="model">
      {!single && <p class="small">{caption}: {sorts.map(([sort, size]) => `${sort} has ${size}`).join(", ")}</p>}
      {single && <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">element</th>
            {unary.map(([name]) => <th scope="col"><code>{name}</code></th>)}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: sorts[0]![1] }, (_, element) => (
            <tr>
              <th scope="row">{[element, ...names(element)].join(" = ")}</th>
              {unary.map(([, rows]) => {
                const holds = rows.some((row) => row[0] === element);
                return <td class={holds ? "yes" : "no"}>{holds ? "✓" : <span class="quiet">·</span>}<span class="hidden">{holds ? "true" : "false"}</span></td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>}
      {rest.length + others.length > 0 && (
        <ul class="facts">
          {rest.map(([name, rows]) => (
            <li>
              <code>{name}</code>{" "}
              {rows.length === 0 ? "holds of nothing" : rows[0]!.length === 0 ? "is true" : rows.map((row) => `(${row.map(called).join(", ")})`).join(" ")}
            </li>
          ))}
          {others.map(([name, table]) => (
            <li><code>{table.map(([point, value]) => `${name}${point.length > 0 ? `(${point.map(called).join(", ")})` : ""} = ${called(value)}`).join("; ")}</code></li>
          ))}
        </ul>
      )}
    </div>
  );
}
