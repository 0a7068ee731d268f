// The page: the list of traces, and beside it the overview or one trace; the address after # says which.

import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { index, load, type Trace } from "./data";
import { TraceList } from "./list";
import { Overview } from "./overview";
import { NO_FILTER, selected, type Filter } from "./select";
import { TraceView } from "./trace";

interface Place {
  trace: number | null;
  node: string | null;
}

function place(): Place {
  const match = /^#\/trace\/(\d+)(?:\/(.+))?$/.exec(location.hash);
  const trace = match === null ? NaN : Number(match[1]);
  if (!(trace < index.traces.length)) return { trace: null, node: null };
  const node = match![2];
  return { trace, node: node === undefined ? null : decoded(node) };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // someone's own address
  }
}

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
  const [where, setWhere] = useState(place);
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [theme, setTheme] = useState<Theme>(rememberedTheme);
  const [read, setRead] = useState(document.readyState !== "loading");
  const [loaded, setLoaded] = useState<{ number: number; trace: Trace | null } | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const main = useRef<HTMLElement>(null);
  const help = useRef<HTMLDialogElement>(null);
  const rows = useMemo(() => selected(filter), [filter]);

  useEffect(() => {
    const moved = () => setWhere(place());
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
    const number = where.trace;
    if (number === null || !read) return;
    let wanted = true;
    const show = (trace: Trace | null) => wanted && setLoaded({ number, trace });
    load(number).then(show, () => show(null));
    return () => {
      wanted = false;
    };
  }, [where.trace, read]);
  useEffect(() => {
    if (theme === null) delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    remember(theme);
  }, [theme]);
  useEffect(() => {
    main.current?.scrollTo(0, 0);
    scrollTo(0, 0); // on a phone the whole page scrolls
  }, [where.trace]);

  const select = (node: string) => {
    history.replaceState(null, "", `#/trace/${where.trace}/${encodeURIComponent(node)}`);
    setWhere({ ...where, node });
  };
  const dark = theme === "dark" || (theme === null && matchMedia("(prefers-color-scheme: dark)").matches);
  const step = (by: number) => {
    const here = where.trace === null ? -1 : rows.indexOf(where.trace);
    const next = rows[Math.max(0, Math.min(rows.length - 1, here + by))];
    if (next !== undefined) location.hash = `#/trace/${next}`;
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
        else if (where.trace !== null) location.hash = "#/";
      } else if (typing) {
        if (event.key === "Enter" && target === search.current && rows[0] !== undefined) {
          search.current.blur();
          location.hash = `#/trace/${rows[0]}`;
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
    <div class={`app${where.trace === null ? "" : " reading"}`}>
      <header class="bar">
        <a href="#/" class="name"><span class="mark" aria-hidden="true">⊢</span> {index.title}</a>
        <span class="tools">
          <button type="button" class="to-search" onClick={() => search.current?.focus()} aria-label="Search" title="Search (/)">⌕</button>
          <button type="button" onClick={() => help.current?.showModal()} aria-label="Keys" title="Keys (?)">?</button>
          <button type="button" onClick={() => setTheme(dark ? "light" : "dark")} aria-label={dark ? "Light colours" : "Dark colours"} title={dark ? "Light colours" : "Dark colours"}>
            {dark ? "☀" : "☾"}
          </button>
        </span>
      </header>
      <TraceList rows={rows} filter={filter} setFilter={setFilter} current={where.trace} search={search} />
      <main ref={main} tabIndex={-1}>
        {where.trace === null ? (
          <Overview setFilter={setFilter} />
        ) : loaded === null ? (
          <p class="quiet nothing">reading …</p>
        ) : loaded.trace === null ? (
          <p class="quiet nothing">This trace cannot be read: the file is damaged, or the browser too old to unpack it.</p>
        ) : (
          <TraceView key={loaded.number} number={loaded.number} row={index.traces[loaded.number]!} trace={loaded.trace} node={loaded.number === where.trace ? where.node : null} select={select} />
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
