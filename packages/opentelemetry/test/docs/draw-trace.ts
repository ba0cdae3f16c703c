import { SpanStatusCode } from '@opentelemetry/api'
import type { TreeSpan } from '../setup/tree.ts'

// Wide enough for the text of a page, and readable on a page of 700 px.
const [WIDTH, MARGIN, NAMES_WIDTH, DURATION_WIDTH] = [760, 16, 216, 64]
const [ROW_HEIGHT, BAR_HEIGHT, INDENT, LEGEND_HEIGHT, AXIS_HEIGHT] = [24, 12, 16, 36, 24]
const BARS_X = MARGIN + NAMES_WIDTH
const BARS_WIDTH = WIDTH - BARS_X - DURATION_WIDTH - MARGIN

const STYLE = `
  svg { --page: #fff; --line: #d1d9e0; --text: #1f2328; --dim: #59636e; --forward: #2f8f83; --failed: #cf222e; --undo: #9a6700 }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --line: #3d444d; --text: #f0f6fc; --dim: #9198a1; --forward: #3fb5a5; --failed: #f85149; --undo: #d29922 }
  }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--text) }
  .page { fill: var(--page); stroke: var(--line) }
  .grid { stroke: var(--line) }
  .dim { fill: var(--dim); font-size: 12px; stroke: var(--page); stroke-width: 4px; paint-order: stroke }
  .frame { fill: var(--dim) }
  .forward { fill: var(--forward) }
  .failed { fill: var(--failed) }
  .undo { fill: url(#hatched); stroke: var(--undo) }
  .stripe { stroke: var(--undo); stroke-width: 3 }`

const HATCHED =
  '<defs><pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="stripe" x1="1.5" x2="1.5" y1="0" y2="6"/></pattern></defs>'

/** Where a time of the trace stands. */
type Place = (ms: number) => number

/** The spans of one trace as an SVG waterfall: a row for each, below its parent, in the order of their begin. Shows no id and no instant. */
export function drawTrace(title: string, spans: readonly TreeSpan[]): string {
  const rows = rowsOf(spans)
  const startMs = Math.min(...spans.map((span) => span.startMs))
  const totalMs = Math.max(...spans.map((span) => span.endMs)) - startMs
  const place: Place = (ms) => BARS_X + ((ms - startMs) / totalMs) * BARS_WIDTH
  const bottom = MARGIN + LEGEND_HEIGHT + AXIS_HEIGHT + rows.length * ROW_HEIGHT
  const height = bottom + MARGIN
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}
</style>
${HATCHED}
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>
${[...legend(), ...axis(totalMs, bottom, (ms) => place(startMs + ms)), ...rows.map((row, index) => drawRow(row, index, place))].join('\n')}
</svg>
`
}

interface Row {
  readonly span: TreeSpan
  readonly depth: number
  /** Whether others stand below it that tell how it went: a run, a map, the undo. */
  readonly isFrame: boolean
}

function rowsOf(spans: readonly TreeSpan[], parentId?: string, depth = 0): readonly Row[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .sort((one, other) => one.startMs - other.startMs || one.endMs - other.endMs)
    .flatMap((span) => {
      const below = rowsOf(spans, span.spanId, depth + 1)
      return [{ span, depth, isFrame: below.length > 0 && !isAttempt(span) }, ...below]
    })
}

function drawRow({ span, depth, isFrame }: Row, index: number, place: Place): string {
  const middle = MARGIN + LEGEND_HEIGHT + AXIS_HEIGHT + (index + 0.5) * ROW_HEIGHT
  const hasFailed = span.status === SpanStatusCode.ERROR
  const look = isFrame ? 'frame' : hasFailed ? 'failed' : isUndo(span) ? 'undo' : 'forward'
  const { 'belay.attempt': attempt = 1, 'belay.item.key': item, 'belay.run.status': end } = span.attributes
  const which = item ?? (Number(attempt) > 1 ? `attempt ${attempt}` : undefined)
  const note = which === undefined ? '' : ` <tspan class="dim">${escaped(String(which))}</tspan>`
  const failure = hasFailed ? ` <tspan class="failed">✕ ${escaped(String(end ?? 'failed'))}</tspan>` : ''
  const [x, endX, barHeight] = [place(span.startMs), place(span.endMs), isFrame ? 3 : BAR_HEIGHT]
  return [
    `<text x="${MARGIN + depth * INDENT}" y="${middle + 4.5}">${escaped(span.name)}${note}${failure}</text>`,
    bar(look, x, middle - barHeight / 2, Math.max(endX - x, 2), barHeight),
    `<text class="dim" x="${rounded(endX + 7)}" y="${middle + 4}">${duration(span.endMs - span.startMs)}</text>`,
  ].join('\n')
}

function bar(look: string, x: number, y: number, width: number, height: number): string {
  return `<rect class="${look}" x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${height}" rx="${height === BAR_HEIGHT ? 2 : 1.5}"/>`
}

function legend(): readonly string[] {
  const entries = [
    { look: 'forward', word: 'went through', x: BARS_X },
    { look: 'failed', word: '✕ failed', x: BARS_X + 130 },
    { look: 'undo', word: 'undo', x: BARS_X + 230 },
  ]
  return entries.flatMap(({ look, word, x }) => [
    bar(look, x, MARGIN + 2, 22, BAR_HEIGHT),
    `<text class="dim" x="${x + 29}" y="${MARGIN + 12}">${word}</text>`,
  ])
}

/** A line for each round time: seven at most. */
function axis(totalMs: number, bottom: number, place: Place): readonly string[] {
  const stepMs = [100, 200, 500, 1_000, 2_000, 5_000, 10_000].find((ms) => totalMs / ms <= 7) ?? totalMs / 7
  const times = Array.from({ length: Math.floor(totalMs / stepMs) + 1 }, (_, index) => index * stepMs)
  return times.flatMap((ms) => {
    const x = rounded(place(ms))
    const top = MARGIN + LEGEND_HEIGHT
    return [
      `<line class="grid" x1="${x}" x2="${x}" y1="${top + AXIS_HEIGHT - 6}" y2="${bottom}"/>`,
      `<text class="dim" x="${x}" y="${top + 10}" text-anchor="middle">${ms === 0 ? 0 : duration(ms)}</text>`,
    ]
  })
}

const isAttempt = (span: TreeSpan) => span.attributes['belay.attempt'] !== undefined
const isUndo = (span: TreeSpan) => span.attributes['belay.direction'] === 'undo'
const rounded = (value: number) => Math.round(value * 10) / 10
const duration = (ms: number) => (ms < 1_000 ? `${ms} ms` : `${rounded(ms / 1_000)} s`)
const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
