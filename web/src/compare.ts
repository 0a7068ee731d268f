// A second run of the same problems, read from a file of reports, beside the one that the page shows.

import { index, outcome, problemOf, type Outcome, type TraceRow } from "./data";

export type Change = "better" | "worse" | "same" | "missing";

export const CHANGES: Record<Change, string> = {
  better: "better than in the other run",
  worse: "worse than in the other run",
  same: "the same in the other run",
  missing: "not in the other run",
};

const RANK: Record<Outcome, number> = { malformed: 0, silent: 0, wrong: 1, unverified: 2, verified: 3, rule_verified: 4 };
const key = (problem: string, sample: number) => JSON.stringify([problem, sample]);

let other: { name: string; outcomes: Map<string, Outcome> } | null = null;

export const comparedWith = (): string | null => other?.name ?? null;

/** What became of the same problem and sample in the other run. */
export const otherOutcome = (row: TraceRow): Outcome | undefined => other?.outcomes.get(key(problemOf(row).id, row.sample));

export function changeOf(row: TraceRow): Change | null {
  if (other === null) return null;
  const before = otherOutcome(row);
  if (before === undefined) return "missing";
  const gain = RANK[outcome(row)] - RANK[before];
  return gain > 0 ? "better" : gain < 0 ? "worse" : "same";
}

export function forget(): void {
  other = null;
}

/** Reads the reports of `proof-r1 verify`, or what this page exports; throws an error that says which line is wrong. */
export function compare(name: string, text: string): void {
  const outcomes = new Map<string, Outcome>();
  text.split("\n").forEach((line, number) => {
    if (line.trim() === "") return;
    const report = reportOf(line);
    if (report === null) throw new Error(`${name}, line ${number + 1} is not a report: choose a file that proof-r1 verify wrote, or one exported here`);
    outcomes.set(key(report.problem_id, report.sample), outcome({ ...report, problem: 0, steps: "" }));
  });
  if (outcomes.size === 0) throw new Error(`${name} holds no report`);
  other = { name, outcomes };
}

function reportOf(line: string) {
  try {
    const { problem_id, sample, parsed, verified, rule_verified, answer, answer_correct } = JSON.parse(line) as Record<string, unknown>;
    if (typeof problem_id !== "string" || typeof sample !== "number" || typeof parsed !== "boolean") return null;
    if (typeof verified !== "boolean" || typeof rule_verified !== "boolean") return null;
    const correct = typeof answer_correct === "boolean" ? { correct: answer_correct } : {};
    return { problem_id, sample, parsed, verified, rule_verified, ...(typeof answer === "string" ? { answer } : {}), ...correct };
  } catch {
    return null;
  }
}

const SIGNALS = [0, 0.1, 0.3, 1];

/** The traces of these numbers as JSON Lines: fields of reports, and the signals of the actions. */
export function exported(numbers: readonly number[]): string {
  return numbers
    .map((number) => {
      const row = index.traces[number]!;
      const { id, difficulty } = problemOf(row);
      return `${JSON.stringify({
        problem_id: id,
        sample: row.sample,
        difficulty: difficulty ?? "",
        parsed: row.parsed,
        answer: row.answer ?? null,
        answer_correct: row.correct ?? null,
        verified: row.verified,
        rule_verified: row.rule_verified,
        signals: [...row.steps].map((digit) => SIGNALS[Number(digit) & 3]),
        findings: row.codes ?? [],
      })}\n`;
    })
    .join("");
}
