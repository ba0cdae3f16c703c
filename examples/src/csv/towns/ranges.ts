import { open, readFile } from 'node:fs/promises'
import * as z from 'zod'

const RANGE_LINES = 1_000

/** Consecutive lines of a file: where their bytes are, and the number of the first one. */
export interface Range {
  readonly line: number
  readonly from: number
  readonly to: number
}

export interface Row {
  readonly line: number
  readonly id: number
  readonly name: string
  readonly country: string
  readonly population: number
  readonly latitude: number
  readonly longitude: number
}

export interface BadRow {
  readonly line: number
  readonly why: string
}

/** Divides a file, without its header, into ranges of a thousand lines. */
export async function rangesOf(file: string): Promise<readonly Range[]> {
  const bytes = await readFile(file)
  const ranges: Range[] = []
  let [line, from] = [2, bytes.indexOf('\n') + 1]
  while (from < bytes.length) {
    let to = from
    for (let lines = 0; lines < RANGE_LINES && to < bytes.length; lines++) to = endOfLine(bytes, to)
    ranges.push({ line, from, to })
    ;[line, from] = [line + RANGE_LINES, to]
  }
  return ranges
}

function endOfLine(bytes: Buffer, from: number): number {
  const end = bytes.indexOf('\n', from)
  return end === -1 ? bytes.length : end + 1
}

/** Reads a range, and tells good rows from bad ones. */
export async function readRange(
  file: string,
  { line, from, to }: Range,
): Promise<{ readonly rows: readonly Row[]; readonly bad: readonly BadRow[] }> {
  const text = await readText(file, from, to)
  const [rows, bad]: [Row[], BadRow[]] = [[], []]
  for (const [index, fields] of text.trimEnd().split('\n').entries()) {
    const read = readRow(fields)
    if (typeof read === 'string') bad.push({ line: line + index, why: read })
    else rows.push({ line: line + index, ...read })
  }
  return { rows, bad }
}

async function readText(file: string, from: number, to: number): Promise<string> {
  const handle = await open(file)
  try {
    const { buffer } = await handle.read(Buffer.alloc(to - from), 0, to - from, from)
    return buffer.toString('utf8')
  } finally {
    await handle.close()
  }
}

const FIELDS =
  /^(?<id>\d+),"(?<name>(?:[^"]|"")*)",(?<country>[^,]*),(?<population>[^,]*),(?<latitude>[^,]*),(?<longitude>[^,]*)$/

const rowSchema = z.object({
  id: z.coerce.number().int(),
  name: z.string().min(1),
  country: z.string().length(2),
  population: z.coerce.number().int().nonnegative(),
  latitude: z.coerce.number().min(-90).max(90),
  longitude: z.coerce.number().min(-180).max(180),
})

/** A row, or why it is none. */
function readRow(text: string): Omit<Row, 'line'> | string {
  const fields = FIELDS.exec(text)?.groups
  if (fields === undefined) return 'has not the six columns of the header'
  const parsed = rowSchema.safeParse({ ...fields, name: fields['name']!.replaceAll('""', '"') })
  if (parsed.success) return parsed.data
  return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
}
