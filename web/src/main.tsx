// The page: the list of traces, and beside it the overview or one trace. The address after # says which, and holds the filters.

import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { index, load, numberOf, problemOf, type Trace } from "./data";
import { TraceList } from "./list";
import { Overview } from "./overview";
import { addressOf, placeOf, selected, type Filter, type Place } from "./select";
import { TraceView } from "./trace";

/** A place, with the filter by the other run, which no address holds. */
const withChange = (place: Place, { change }: Filter): Place => ({ ...place, filter: { ...place.filter, change } });

type Theme = "light" | "dark" | null;
const THEME = "proof-r1-theme";

/** What was chosen before, where the browser keeps it; files are often not allowed to keep anything. */
function rememberedTheme(): Theme {
  try {
    const theme = localStorage.getItem(THEME);
    return theme === "light" || theme === "dark" ? theme : null;
  } catch {
    return null;
  }
}

function remember(theme: Theme): void {
  try {
    if (theme !== null) localStorage.setItem(THEME, theme);
  } catch {
    // it is forgotten with the page
  }
}

function App() {
  const [where, setWhere] = useState<Place>(() => placeOf(location.hash));
  const [run, setRun] = useState(0); // counts the runs that were compared with
  const filter = where.filter;
  const shown = where.problem === null ? null : (numberOf(where.problem, where.sample) ?? null);
  const [theme, setTheme] = useState<Theme>(rememberedTheme);
  const [read, setRead] = useState(document.readyState !== "loading");
  const [loaded, setLoaded] = useState<{ number: number; trace: Trace | null } | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const main = useRef<HTMLElement>(null);
  const help = useRef<HTMLDialogElement>(null);
  const rows = useMemo(() => selected(filter), [JSON.stringify(filter), run]);

  useEffect(() => {
    const moved = () => setWhere((before) => withChange(placeOf(location.hash), before.filter));
    const done = () => setRead(true);
    addEventListener("hashchange", moved);
    document.addEventListener("DOMContentLoaded", done);
    if (document.readyState !== "loading") done(); // it may have been read before this effect ran
    return () => {
      removeEventListener("hashchange", moved);
      document.removeEventListener("DOMContentLoaded", done);
    };
  }, []);
  useEffect(() => {
    const number = shown;
    if (number === null || !read) return;
    let wanted = true;
    const show = (trace: Trace | null) => wanted && setLoaded({ number, trace });
    load(number).then(show, () => show(null));
    return () => {
      wanted = false;
    };
  }, [shown, read]);
  useEffect(() => {
    if (theme === null) delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    remember(theme);
  }, [theme]);
  useEffect(() => {
    main.current?.scrollTo(0, 0);
    scrollTo(0, 0); // on a phone the whole page scrolls
  }, [shown]);

  const stay = (next: Place) => {
    history.replaceState(null, "", addressOf(next));
    setWhere(next);
  };
  const select = (node: string) => stay({ ...where, node });
  const setFilter = (filter: Filter) => stay({ ...where, filter });
  const addressOfTrace = (number: number | null) => {
    const row = number === null ? null : index.traces[number]!;
    return addressOf({ problem: row && problemOf(row).id, sample: row?.sample ?? 0, node: null, filter });
  };
  const dark = theme === "dark" || (theme === null && matchMedia("(prefers-color-scheme: dark)").matches);
  const step = (by: number) => {
    const here = shown === null ? -1 : rows.indexOf(shown);
    const next = rows[Math.max(0, Math.min(rows.length - 1, here + by))];
    if (next !== undefined) location.hash = addressOfTrace(next);
  };
  const graph = () => main.current?.querySelector<SVGGElement>(".graph [tabindex='0']");

  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || help.current?.open) return;
      const target = event.target as Element;
      const typing = target.matches("input, select, textarea");
      if (event.key === "Escape") {
        if (typing) search.current?.blur();
        else if (target.closest(".graph") !== null) (target as SVGGElement).blur();
        else if (where.problem !== null) location.hash = addressOfTrace(null);
      } else if (typing) {
        if (event.key === "Enter" && target === search.current && rows[0] !== undefined) {
          search.current.blur();
          location.hash = addressOfTrace(rows[0]);
        }
        return;
      } else if (event.key === "/") search.current?.focus();
      else if (event.key === "j") step(1);
      else if (event.key === "k") step(-1);
      else if (event.key === "?") help.current?.showModal();
      else if (event.key === "Enter" && !target.matches("a, button, summary, [role=button]")) graph()?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [rows, where]);

  return (
    <div class={`app${where.problem === null ? "" : " reading"}${index.traces.length === 1 ? " single" : ""}`}>
      <header class="bar">
        <a href={addressOfTrace(null)} class="name" aria-label={index.title}><span class="mark" aria-hidden="true">⊢</span> {where.problem !== null && index.title}</a>
        <span class="tools">
          <button type="button" class="to-search" onClick={() => search.current?.focus()} aria-label="Search" title="Search (/)">⌕</button>
          <button type="button" onClick={() => help.current?.showModal()} aria-label="Keys" title="Keys (?)">?</button>
          <button type="button" onClick={() => setTheme(dark ? "light" : "dark")} aria-label={dark ? "Light colours" : "Dark colours"} title={dark ? "Light colours" : "Dark colours"}>
            {dark ? "☀" : "☾"}
          </button>
        </span>
      </header>
      <TraceList rows={rows} filter={filter} setFilter={setFilter} current={shown} search={search} address={addressOfTrace} compared={() => setRun(run + 1)} />
      <main ref={main} tabIndex={-1}>
        {where.problem === null ? (
          <Overview setFilter={setFilter} address={(number, node) => addressOf({ problem: problemOf(index.traces[number]!).id, sample: index.traces[number]!.sample, node, filter })} />
        ) : shown === null ? (
          <div class="nothing">
            <p>This report has no trace of problem <strong>{where.problem}</strong>, sample {where.sample}.</p>
            <p><a href={addressOfTrace(null)}>Overview</a></p>
          </div>
        ) : loaded === null ? (
          <p class="quiet nothing">reading …</p>
        ) : loaded.trace === null ? (
          <p class="quiet nothing">This trace cannot be read: the file is damaged, or the browser too old to unpack it.</p>
        ) : (
          <TraceView key={loaded.number} number={loaded.number} row={index.traces[loaded.number]!} trace={loaded.trace} node={loaded.number === shown ? where.node : null} select={select} overview={addressOfTrace(null)} />
        )}
      </main>
      <dialog ref={help} aria-label="Keys" onClick={(event) => event.target === help.current && help.current?.close()}>
        <h2>Keys</h2>
        <dl>
          {KEYS.map(([keys, meaning]) => (
            <div><dt>{keys.map((key) => <kbd>{key}</kbd>)}</dt><dd>{meaning}</dd></div>
          ))}
        </dl>
        <button type="button" onClick={() => help.current?.close()}>Close</button>
      </dialog>
    </div>
  );
}

const KEYS: [string[], string][] = [
  [["/"], "search"],
  [["j", "k"], "next and previous trace"],
  [["Enter"], "from the search to the first trace; into the graph"],
  [["←", "↑", "↓", "→"], "in the graph, from node to node"],
  [["Esc"], "out of the search or the graph; back to the overview"],
  [["?"], "these keys"],
];

document.title = index.title;
render(<App />, document.getElementById("page")!);
