// The list of traces: search, filters, and rows of which only those in view are in the document.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { changeOf, CHANGES, compare, comparedWith, exported, forget, otherOutcome, type Change } from "./compare";
import { index, LEVELS, optionLabel, OUTCOMES, outcome, problemOf, words, type Outcome } from "./data";
import { counted, NO_FILTER, ORDERS, type Filter, type Order } from "./select";

export const ROW = 74;
const MARGIN = 8;
const SQUARES = 24;

interface Props {
  rows: number[];
  filter: Filter;
  setFilter: (filter: Filter) => void;
  current: number | null;
  search: RefObject<HTMLInputElement | null>;
  address: (number: number) => string;
  compared: () => void; // called when another run was chosen, or is not compared with any more
}

const outcomes = counted((row) => [outcome(row)]);
const rules = counted((row) => row.rules ?? []).slice(0, 60);
const codes = counted((row) => row.codes ?? []);
const difficulties = counted((row) => [problemOf(row).difficulty ?? ""]).filter(([name]) => name !== "");

export function TraceList({ rows, filter, setFilter, current, search, address, compared }: Props) {
  const active = JSON.stringify(filter) !== JSON.stringify(NO_FILTER);
  return (
    <nav class="list" aria-label="Traces">
      <div class="controls">
        <label class="search">
          <span class="hidden">Search problems</span>
          <input
            ref={search}
            type="search"
            placeholder="Search: words, &quot;exact words&quot;, #7"
            value={filter.text}
            onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
        <div class="filters">
          <Choice label="outcome" value={filter.outcome} options={outcomes} name={(value) => OUTCOMES[value as Outcome].label} set={(value) => setFilter({ ...filter, outcome: value as Outcome | "" })} />
          <Choice label="finding" value={filter.code} options={codes} name={words} set={(code) => setFilter({ ...filter, code })} />
          <Choice label="rule" value={filter.rule} options={rules} name={words} set={(rule) => setFilter({ ...filter, rule })} />
          {difficulties.length > 1 && <Choice label="difficulty" value={filter.difficulty} options={difficulties} name={(value) => value} set={(difficulty) => setFilter({ ...filter, difficulty })} />}
          {comparedWith() !== null && <Choice label="change" value={filter.change} options={countedChanges()} name={(value) => CHANGES[value as Change]} set={(change) => setFilter({ ...filter, change: change as Change | "" })} />}
          <select aria-label="Order" class={filter.order === "" ? "" : "active"} value={filter.order} onChange={(event) => setFilter({ ...filter, order: event.currentTarget.value as Order | "" })}>
            <option value="">file order</option>
            {Object.entries(ORDERS).map(([order, name]) => <option value={order}>{name}</option>)}
          </select>
        </div>
        <p class="count" role="status">
          {rows.length === index.traces.length ? "" : `${rows.length.toLocaleString("en")} of `}{index.traces.length.toLocaleString("en")} {index.traces.length === 1 ? "trace" : "traces"}
          {active && <button type="button" onClick={() => setFilter(NO_FILTER)}>clear</button>}
        </p>
      </div>
      <Rows rows={rows} current={current} address={address} />
      <Files rows={rows} compared={compared} clear={() => setFilter({ ...filter, change: "" })} />
    </nav>
  );
}

const countedChanges = () => counted((row) => [changeOf(row) ?? "missing"]);

/** Saving the list as a file, and comparing with the file of another run. */
function Files({ rows, compared, clear }: { rows: number[]; compared: () => void; clear: () => void }) {
  const [fault, setFault] = useState("");
  const save = () => {
    const url = URL.createObjectURL(new Blob([exported(rows)], { type: "application/jsonl" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = "traces.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      compare(file.name, await file.text());
      setFault("");
    } catch (error) {
      setFault((error as Error).message);
    }
    compared();
  };
  const name = comparedWith();
  return (
    <div class="files">
      <button type="button" onClick={save} title="Save the traces of this list, one JSON object per line">Save list</button>
      {name === null ? (
        <label title="Choose the reports that proof-r1 verify wrote for another run of these problems">
          Compare with a run
          <input class="hidden" type="file" accept=".jsonl,.json,.txt" onChange={(event) => { void read(event.currentTarget.files?.[0]); event.currentTarget.value = ""; }} />
        </label>
      ) : (
        <button type="button" onClick={() => { forget(); clear(); compared(); }} title={`Compared with ${name}`}>Stop comparing</button>
      )}
      {fault !== "" && <p role="alert">{fault}</p>}
    </div>
  );
}

function Choice({ label, value, options, name, set }: { label: string; value: string; options: [string, number][]; name: (value: string) => string; set: (value: string) => void }) {
  const cut = (text: string) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);
  return (
    <select aria-label={`Filter by ${label}`} class={value === "" ? "" : "active"} value={value} onChange={(event) => set(event.currentTarget.value)}>
      <option value="">{label}</option>
      {options.map(([option, count]) => <option value={option}>{cut(name(option))} ({count})</option>)}
    </select>
  );
}

function Rows({ rows, current, address }: { rows: number[]; current: number | null; address: (number: number) => string }) {
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  useEffect(() => {
    const observer = new ResizeObserver(() => setHeight(frame.current?.clientHeight ?? 800));
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const place = current === null ? -1 : rows.indexOf(current);
    const element = frame.current;
    if (place < 0 || element === null) return;
    if (place * ROW < element.scrollTop) element.scrollTop = place * ROW;
    if ((place + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (place + 1) * ROW - element.clientHeight;
  }, [current, rows]);
  const first = Math.max(0, Math.floor(top / ROW) - MARGIN);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + MARGIN);
  return (
    <div class="rows" ref={frame} tabIndex={-1} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      {rows.length === 0 && <p class="quiet nothing">No trace passes.</p>}
      <ol style={{ height: `${rows.length * ROW}px` }}>
        {rows.slice(first, last).map((number, place) => (
          <li key={number} style={{ top: `${(first + place) * ROW}px` }} aria-setsize={rows.length} aria-posinset={first + place + 1}>
            <RowView number={number} current={number === current} address={address(number)} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function RowView({ number, current, address }: { number: number; current: boolean; address: string }) {
  const row = index.traces[number]!;
  const problem = problemOf(row);
  const what = outcome(row);
  const before = otherOutcome(row);
  return (
    <a href={address} data-trace={number} aria-current={current ? "page" : undefined} class={current ? "current" : ""}>
      <span class="line">
        <span class="id">{problem.id}<span class="sample"> #{row.sample}</span></span>
        <span>
          {before !== undefined && before !== what && <><s class="quiet small">{OUTCOMES[before].label}</s> </>}
          <span class={`badge ${what}`}>{OUTCOMES[what].label}</span>
        </span>
      </span>
      <span class="question">{statement(problem.question ?? "")}</span>
      <span class="line">
        <span class="squares" role="img" aria-label={`${row.steps.length} actions`}>
          {[...row.steps.slice(0, SQUARES)].map((digit) => (
            <i class={`${LEVELS[Number(digit) & 3]!.name}${Number(digit) & 4 ? "" : " outside"}`} />
          ))}
          {row.steps.length > SQUARES && <b>+{row.steps.length - SQUARES}</b>}
        </span>
        <span class="said">{optionLabel(problem, row.answer) ?? "–"}</span>
      </span>
    </a>
  );
}

/** What a question is about: datasets put the same sentence before each statement. */
const statement = (question: string): string => /\?\s+(\S[^]*)$/.exec(question)?.[1] ?? question;
