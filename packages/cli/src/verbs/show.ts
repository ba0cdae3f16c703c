import { RunFailedError, type RunSnapshot, type UndoReport, undoReport } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { laneLines } from '../lanes/lines.ts'
import { nameOf, runNamed } from '../runs/names.ts'
import { documentOf, readRunWithGraph, withoutPayloads } from '../runs/read-run.ts'
import { type StepLine, stepLines } from '../runs/step-details.ts'
import type { Column, Output } from '../terminal/output.ts'
import type { Shown } from '../terminal/shapes.ts'
import { cut, pad, safe, width } from '../terminal/text.ts'
import { ago, moment, span } from '../terminal/time.ts'

/** `belay show`. */
export async function run({ args, connect, flags, out }: Call): Promise<ExitStatus | undefined> {
  const store = await connect()
  const { id } = await runNamed(store, args['run']!)
  const { run, graph } = await readRunWithGraph(store, id)
  const shown = documentOf(flags.payloads ? run : withoutPayloads(run))
  if (out.fields !== undefined) return showFields(out, shown)
  if (out.json) return out.document(shown) as undefined
  const lines = stepLines(run, graph, out)
  if (out.plain) {
    for (const sentence of sentences(run, lines, out)) out.line(sentence)
  } else if (!out.isTerminal) pipe(out, run, lines)
  else {
    out.line(titleOf(out, run, run.tags.map(safe)))
    if (HAS_REPORT.has(run.status) && !flags.graph) showUndo(out, run)
    else showGraph(out, run, lines)
  }
  if (flags.payloads) showPayloads(out, run)
  return
}

/** `◊ waiting  fulfil-order/order:9182  v3`, and what follows, in one line. */
export function titleOf(
  out: Output,
  { status, workflow, key, version }: RunSnapshot,
  more: readonly string[] = [],
): string {
  const name = `${safe(workflow)}${key === undefined ? '' : `/${safe(key)}`}`
  const room = out.columns - width(`x ${status}  `)
  return `${out.status(status)}  ${cut([name, `v${version}`, ...more].join('  '), room)}`
}

function showGraph(out: Output, run: RunSnapshot, lines: readonly StepLine[]): void {
  out.line(`${run.id}  created ${moment(run.createdAt, run.readAt, out)}, ${ago(run.createdAt, run.readAt)}`)
  out.line()
  for (const line of laneLines(out, lines)) out.line(line)
}

/** Why the run did not complete, and what was undone; undefined for one that completed or goes on. */
export function failureOf(run: RunSnapshot): string | undefined {
  return HAS_REPORT.has(run.status) ? safe(new RunFailedError(run).message) : undefined
}

const HAS_REPORT: ReadonlySet<string> = new Set(['failed', 'cancelled', 'compensated', 'compensation_failed'])

type Document = Readonly<Record<string, unknown>>

/** With `--fields`: these properties of the run, under the API's names. */
function showFields(out: Output, run: Document): undefined {
  const columns = Object.keys(run).map((name): Column<Document> => {
    const value = (row: Document): unknown => row[name]
    const shown = (row: Document) => safe(textOf(value(row)))
    return { field: name, shown, value }
  })
  if (out.json) out.document(out.objects(columns, [run])[0])
  else out.table(columns, [run])
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function pipe(out: Output, run: RunSnapshot, lines: readonly StepLine[]): void {
  const { id, workflow, version, key = '', status, createdAt, finishedAt, tags } = run
  const facts = { id, workflow, version, key, status, createdAt, finishedAt, tags: tags.join(' ') }
  for (const [name, value] of Object.entries(facts)) out.line(`${name}\t${safe(textOf(value))}`)
  out.line()
  for (const { name, word, detail } of lines) out.line([safe(name), word, detail].join('\t'))
}

/** The run and each of its steps in a sentence, for `--plain`. */
export function sentences(run: RunSnapshot, lines: readonly StepLine[], out: Output): readonly string[] {
  const { id, workflow, version, key, status, createdAt, readAt } = run
  const named = key === undefined ? '' : `, key ${safe(key)},`
  return [
    `Run ${id} of "${safe(workflow)}" (version ${version})${named} is ${status}. It was created ${moment(createdAt, readAt, out)}, ${ago(createdAt, readAt)}.`,
    ...(failureOf(run) === undefined ? [] : [failureOf(run)!]),
    ...lines.map(({ name, word, detail }) => `${safe(name)}: ${word}${detail === '' ? '' : `, ${detail}`}.`),
  ]
}

function showPayloads(out: Output, { input, steps, values }: RunSnapshot): void {
  const payloads = [
    ['input', input],
    // The step that decides a map's items gives their number, which is told already.
    ...steps.filter(({ name }) => !name.endsWith('[]')).map(({ name, output }) => [name, output] as const),
    ...Object.entries(values),
  ] as const
  const given = payloads.filter(([, value]) => value !== undefined)
  if (given.length > 0) out.line()
  for (const [name, value] of given) {
    const text = `${safe(name)}: ${safe(JSON.stringify(value))}`
    out.line(out.isTerminal ? `  ${text}` : text)
  }
}

/** The undo report: what was undone, in the order in which it was. */
function showUndo(out: Output, run: RunSnapshot): void {
  out.paragraph(failureOf(run)!)
  const rows = undoRows(run)
  if (rows.length > 0) {
    const title = 'UNDONE, FIRST TO LAST'
    const names = Math.max(...rows.map(({ name }) => width(name)))
    const left = rows.map(({ mark, name, note }) =>
      `${out.shape(mark)} ${pad(name, names)}  ${note}`.trimEnd(),
    )
    const widest = Math.max(width(title), ...left.map(width))
    out.line()
    out.line(out.paint(`  ${pad(title, widest)}  ATTEMPTS  TOOK`, 'dim'))
    for (const [index, { attempts, took }] of rows.entries()) {
      out.line(`  ${pad(left[index]!, widest)}  ${attempts.padStart(8)}  ${took}`.trimEnd())
    }
  }
  out.note(`Graph: belay show ${nameOf(run)} --graph`)
}

interface UndoRow {
  readonly mark: Shown
  readonly name: string
  readonly note: string
  readonly attempts: string
  readonly took: string
}

/** The steps of the undo report by the end of their undo, with the items of a map together. */
function undoRows(run: RunSnapshot): readonly UndoRow[] {
  const steps = new Map(run.steps.map((step) => [step.name, step]))
  const groups = new Map<string, { readonly name: string; readonly reports: UndoReport[] }>()
  for (const report of undoReport(run)) {
    const step = steps.get(report.step)
    const name = step?.itemKey === undefined ? report.step : report.step.slice(0, -step.itemKey.length - 2)
    const group = groups.get(`${report.result} ${name}`) ?? { name, reports: [] }
    groups.set(`${report.result} ${name}`, group)
    group.reports.push(report)
  }
  const rows = [...groups.values()].map(({ name, reports }) => {
    const undos = reports.flatMap((report) => steps.get(report.step)?.undo ?? [])
    const begun = undos.flatMap(({ startedAt }) => startedAt?.getTime() ?? [])
    const ended = undos.flatMap(({ finishedAt }) => finishedAt?.getTime() ?? [])
    const { result } = reports[0]!
    const count = name === reports[0]!.step ? '' : `${reports.length} items`
    const row: UndoRow = {
      ...RESULTS[result],
      name: cut(safe(name), 32),
      note: [count, RESULTS[result].note].filter((part) => part !== '').join(', '),
      attempts: String(Math.max(0, ...undos.map(({ attempts }) => attempts)) || ''),
      took: ended.length === 0 || begun.length === 0 ? '' : span(Math.max(...ended) - Math.min(...begun)),
    }
    return { row, at: ended.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ended) }
  })
  return rows.toSorted((one, other) => (one.at === other.at ? 0 : one.at - other.at)).map(({ row }) => row)
}

const RESULTS: Readonly<Record<UndoReport['result'], { readonly mark: Shown; readonly note: string }>> = {
  compensated: { mark: 'compensated', note: '' },
  skipped: { mark: 'compensated', note: 'by hand' },
  compensation_failed: { mark: 'compensation_failed', note: 'failed for good' },
  waiting: { mark: 'not yet its turn', note: 'not yet its turn' },
  unknown: { mark: 'needs you', note: 'effect unknown' },
  succeeded: { mark: 'completed', note: 'not undone' },
  irreversible: { mark: 'completed', note: 'cannot be undone' },
  kept: { mark: 'completed', note: 'kept' },
}
