import { styleText } from 'node:util'
import { misused } from '../cli-error.ts'
import { SHAPES, type Shown } from './shapes.ts'
import type { Sink } from './sink.ts'
import { cut, pad, safe, shortened, width, wrap } from './text.ts'

export interface OutputOptions {
  readonly stdout: Sink
  readonly stderr: Sink
  readonly env: Readonly<Record<string, string | undefined>>
  readonly json: boolean
  readonly plain: boolean
  readonly ascii: boolean
  /** Undefined: if the terminal has colours and `NO_COLOR` is not set. */
  readonly color: boolean | undefined
  readonly utc: boolean
  readonly fields: readonly string[] | undefined
}

type Paint = 'green' | 'blue' | 'yellow' | 'red' | 'gray' | 'bold' | 'dim'

/** A column of a table. */
export interface Column<Row> {
  /** As `--fields` and `--json` name it. */
  readonly field: string
  /** Above it; default: the field in capitals. */
  readonly title?: string
  /** What a terminal shows. */
  readonly shown: (row: Row) => string
  /** What a pipe and `--json` get: whole ids, ISO times. */
  readonly value: (row: Row) => unknown
  readonly align?: 'right'
  /** Only if `--fields` asks for it. */
  readonly hidden?: true
}

const WIDTH_DEFAULT = 80

/** A message of an error may have any length. */
const PARAGRAPH_CHARS_MAX = 1_000

/** Where a verb writes: data to stdout, everything else to stderr. What comes from the store goes through `safe()` before it is painted. */
export class Output {
  readonly json: boolean
  readonly plain: boolean
  readonly utc: boolean
  /** Whether stdout is a terminal: then screens, else tabs, whole ids and ISO times. */
  readonly isTerminal: boolean
  readonly fields: readonly string[] | undefined
  readonly #options: OutputOptions
  readonly #hasColour: boolean

  constructor(options: OutputOptions) {
    const { stdout, env, json, plain, utc, color, fields } = options
    this.#options = options
    this.json = json
    this.plain = plain
    this.utc = utc
    this.fields = fields
    this.isTerminal = stdout.isTTY === true
    const wanted = this.isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
    this.#hasColour = !plain && (color ?? wanted)
  }

  /** Columns of the terminal; 80 where nobody knows. */
  get columns(): number {
    return this.#options.stdout.columns || WIDTH_DEFAULT
  }

  /** Data: one line on stdout. */
  line(text = ''): void {
    this.#options.stdout.write(`${text}\n`)
  }

  /** Data without a line break, for what is redrawn. */
  raw(text: string): void {
    this.#options.stdout.write(text)
  }

  /** Anything but data: one line on stderr. */
  note(text = ''): void {
    this.#options.stderr.write(`${text}\n`)
  }

  /** Without a line break, for questions and progress. */
  rawNote(text: string): void {
    this.#options.stderr.write(text)
  }

  /** One JSON document on stdout. */
  document(value: unknown): void {
    this.line(JSON.stringify(value, undefinedAsNull, this.isTerminal ? 2 : 0))
  }

  /** One line of NDJSON on stdout. */
  record(value: unknown): void {
    this.line(JSON.stringify(value, undefinedAsNull))
  }

  /** Sentences as a paragraph of at most the terminal's width; in a pipe one line. */
  paragraph(
    text: string,
    { indent = 0, first }: { readonly indent?: number; readonly first?: string } = {},
  ): void {
    const start = first ?? ' '.repeat(indent)
    if (!this.isTerminal) return this.line(`${start}${text}`)
    wrap(shortened(text, PARAGRAPH_CHARS_MAX), this.columns - Math.max(indent, width(start))).forEach(
      (line, index) => {
        this.line(`${index === 0 ? start : ' '.repeat(indent)}${line}`)
      },
    )
  }

  /** The shape of a status, painted; nothing with `--plain`. */
  shape(status: Shown): string {
    if (this.plain) return ''
    const { shape, ascii, colour } = SHAPES[status]
    return this.paint(this.#options.ascii ? ascii : shape, colour)
  }

  /** The shape and its word, or another one beside it. */
  status(status: Shown, word: string = status): string {
    return this.plain ? word : `${this.shape(status)} ${word}`
  }

  get isAscii(): boolean {
    return this.#options.ascii
  }

  paint(text: string, paint: Paint): string {
    return this.#hasColour ? styleText(paint, text, { validateStream: false }) : text
  }

  /**
   * Rows as a table on a terminal, as tabs in a pipe, both with the fields that were asked for. Only the last column is cut.
   *
   * @throws CliError for a field that no column has.
   */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void {
    const chosen = chosenColumns(columns, this.fields)
    if (!this.isTerminal) {
      for (const row of rows) this.line(chosen.map(({ value }) => piped(value(row))).join('\t'))
      return
    }
    const titles = chosen.map(({ title, field }) => title ?? field.toUpperCase())
    const cells = rows.map((row) => chosen.map(({ shown }) => shown(row)))
    const widths = titles.map((title, index) =>
      Math.max(width(title), ...cells.map((row) => width(row[index]!))),
    )
    const last = chosen.length - 1
    const room = this.columns - widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0)
    const lineOf = (row: readonly string[]) =>
      row
        .map((cell, index) => {
          if (index === last)
            return chosen[index]!.align === 'right'
              ? cell.padStart(widths[index]!)
              : cut(cell, Math.max(room, 8))
          return chosen[index]!.align === 'right'
            ? ' '.repeat(widths[index]! - width(cell)) + cell
            : pad(cell, widths[index]!)
        })
        .join('  ')
        .trimEnd()
    this.line(this.paint(lineOf(titles), 'dim'))
    for (const row of cells) this.line(lineOf(row))
  }

  /** Rows for `--json`: objects with the fields that were asked for, or all. */
  objects<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly Record<string, unknown>[] {
    const chosen = this.fields === undefined ? columns : chosenColumns(columns, this.fields)
    return rows.map((row) => Object.fromEntries(chosen.map(({ field, value }) => [field, value(row)])))
  }
}

function chosenColumns<Row>(
  columns: readonly Column<Row>[],
  fields: readonly string[] | undefined,
): readonly Column<Row>[] {
  if (fields === undefined) return columns.filter(({ hidden }) => hidden !== true)
  return fields.map((field) => {
    const column = columns.find((each) => each.field === field)
    if (column !== undefined) return column
    throw misused(
      `--fields: there is no "${safe(field)}" here. It has ${columns.map((each) => each.field).join(', ')}.`,
    )
  })
}

function piped(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return safe(typeof value === 'string' ? value : JSON.stringify(value))
}

function undefinedAsNull(_key: string, value: unknown): unknown {
  return value === undefined ? null : value
}
