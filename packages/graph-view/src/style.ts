/** State, then its colour in light and in dark. Colour means state, and nothing else. */
const STATES = {
  pending: ['#6b7177', '#7f8790'],
  scheduled: ['#5d6670', '#939ca6'],
  ready: ['#33659e', '#86b4e8'],
  running: ['#1a5fc8', '#62a3ff'],
  waiting: ['#7048b6', '#b89bf0'],
  completed: ['#23765a', '#4fb38c'],
  skipped: ['#5f656c', '#8f979f'],
  failed: ['#c22f1d', '#ff8370'],
  undoing: ['#a35200', '#f5a742'],
  undone: ['#80642f', '#c8a76c'],
  parked: ['#b0126b', '#ff7dbd'],
  paused: ['#4c5a6e', '#a3b1c4'],
  cancelled: ['#6d645d', '#a0968e'],
} as const

const INKS = {
  bg: ['#fbfbfa', '#0f1113'],
  sunken: ['#f4f4f2', '#0b0d0e'],
  hover: ['#f1f1ee', '#1b1f23'],
  line: ['#e7e7e3', '#24282d'],
  'line-strong': ['#cdcec9', '#3a4047'],
  ink: ['#17191b', '#eceef0'],
  'ink-2': ['#4b5157', '#aeb5bd'],
  'ink-3': ['#5f656c', '#8f979f'],
} as const

function tokens(theme: 0 | 1): string {
  const states = Object.entries(STATES).map(([name, colours]) => `--s-${name}:${colours[theme]}`)
  const inks = Object.entries(INKS).map(([name, colours]) => `--${name}:${colours[theme]}`)
  return [...states, ...inks].join(';')
}

const colours = Object.keys(STATES)
  .map((name) => `.s-${name}{--c:var(--s-${name})}`)
  .join('')

/**
 * How the classes of the drawings look, in terms of tokens (`--s-completed`, `--ink` …) that the page defines. It has selectors of classes only, so put it
 * below a class of the page's own if they clash.
 */
export const drawingStyle = `${colours}.s-to-undo{--c:var(--s-undone)}
.glyph .fill{fill:var(--c)}.glyph .line{fill:none;stroke:var(--c)}.glyph .hole{fill:var(--bg)}.glyph .cut{fill:none;stroke:var(--bg)}
.mark{--c:var(--ink-2)}.belay .mark-box{fill:var(--bg);stroke:var(--line-strong)}
.belay text{font:12px "Inter",ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--ink-2);font-variant-numeric:tabular-nums}
.belay .name{fill:var(--ink);font-weight:500}.belay .dim{fill:var(--ink-3);font-weight:400}.belay .small,.belay .axis-text{font-size:11px}.belay .axis-text{fill:var(--ink-3)}
.belay .strong{fill:var(--ink);font-weight:600}.belay .tone{fill:var(--c)}.belay text.tone{font-weight:500}
.belay .halo{paint-order:stroke;stroke:var(--bg);stroke-width:4px;stroke-linejoin:round}
.belay .grid{stroke:var(--line)}.belay .edge-of-fold,.belay .grid-start{fill:none;stroke:var(--line-strong)}.belay .fold{fill:var(--sunken)}
.belay .axis{stroke:var(--ink-2)}.belay .now{stroke:var(--ink-3)}.belay .hatch-line{fill:var(--line-strong)}
.belay .stop{stroke:var(--s-failed);stroke-width:1.5}.belay .drained{stroke:var(--s-undoing);stroke-width:1.5;stroke-dasharray:4 3}
.belay .ground{fill:transparent}
.belay .bar{fill:var(--c)}.belay .late,.belay .attempt{fill:var(--bg);stroke:var(--c);stroke-width:1.2}.belay .soft{fill:var(--c);fill-opacity:.2}.belay .late-part{fill:var(--c);fill-opacity:.35;stroke:var(--c);stroke-width:1.2}
.belay .final{fill:var(--c);stroke:var(--c);stroke-width:1.2}.belay .lost{stroke-dasharray:2.5 2}
.belay .cross{fill:none;stroke:var(--c);stroke-width:1.4}.belay .cross-final{fill:none;stroke:var(--bg);stroke-width:1.4}
.belay .begin{stroke:var(--ink-2);stroke-width:1.25}.belay .pause{stroke:var(--c);stroke-dasharray:2 2.5}.belay .queue{stroke:var(--ink-3)}
.belay .parked-line{stroke:var(--c);stroke-width:1.5;stroke-dasharray:5 4}.belay .to-undo{fill:none;stroke:var(--c);stroke-width:1.2;stroke-dasharray:4 3}
.belay .flow{stroke:var(--bg);stroke-dasharray:2 4}
.belay .number{fill:var(--bg);stroke:var(--c);stroke-width:1.5}.belay .number.done{fill:var(--c)}.belay .number.planned{stroke-dasharray:2.5 2}
.belay text.number-text{font-size:10px;font-weight:600;fill:var(--c);stroke:none}.belay text.number-text.done{fill:var(--bg)}
.belay .link{fill:none;stroke:var(--ink);stroke-width:1.25}.belay .link-end{fill:var(--ink)}
.belay .node .ground{fill:var(--bg)}.belay .node .box{fill:var(--c);fill-opacity:.1;stroke:var(--c);stroke-opacity:.7}.belay .node.ghost .box{fill:none;stroke:var(--line-strong);stroke-opacity:1;stroke-dasharray:4 3}
.belay .node .name{font-size:13px}.belay .node.ghost .name{font-weight:400;fill:var(--ink-2)}.belay .track{fill:var(--line)}
.belay .edge{fill:none;stroke:var(--line-strong);stroke-width:1.25;stroke-dasharray:4 4}.belay .edge.taken{stroke:var(--ink-2);stroke-width:1.75;stroke-dasharray:none}
.belay .undo-edge{fill:none;stroke:var(--c);stroke-width:1.75}.belay .undo-edge.planned{stroke-dasharray:4 3}.belay .arrow{fill:var(--c)}
.belay .mini{fill:var(--c)}.belay .mini.ghost{fill:none;stroke:var(--line-strong)}.belay .view{fill:none;stroke:var(--ink)}
.belay .cell{fill:var(--c)}.belay .cell.pale{fill-opacity:.5}.belay .cell.none{fill:var(--line-strong)}.belay .outline{fill:none;stroke:var(--c);stroke-width:1.5}
.belay .dashes{stroke:var(--c);stroke-width:1.6;stroke-dasharray:2 2}.belay .cell-cross{fill:none;stroke:var(--bg);stroke-width:1.3}
@keyframes belay-flow{to{stroke-dashoffset:12}}@media (prefers-reduced-motion:no-preference){.belay .flow{animation:belay-flow .9s linear infinite}}`

/** All that a drawing needs to stand alone in a file: the tokens for light and dark, and {@link drawingStyle}. For `svgText(drawing, { style })`. */
export const fileStyle = `:root{${tokens(0)};background:var(--bg)}@media (prefers-color-scheme:dark){:root{${tokens(1)}}}
${drawingStyle}`
