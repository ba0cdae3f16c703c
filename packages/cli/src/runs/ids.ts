import { createInterface } from 'node:readline'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import { safe } from '../terminal/text.ts'
import { ID } from './names.ts'

/** Reads ids of runs from stdin: one a line, or NDJSON objects with an `id`. Throws a `CliError` with status 2 that names the first line without one. */
export async function idsFrom({
  process,
  signal,
}: Pick<Call, 'process' | 'signal'>): Promise<readonly string[]> {
  const ids: string[] = []
  let number = 0
  for await (const line of createInterface({ input: process.stdin, signal })) {
    number += 1
    const text = line.trim()
    if (text === '') continue
    const id = text.startsWith('{') ? idIn(text) : text
    if (id === undefined || !ID.test(id)) {
      throw misused(
        `Line ${number} of stdin is neither the id of a run nor an object with one as \`id\`: ${safe(text.slice(0, 60))}`,
        'list --fields id',
      )
    }
    ids.push(id)
  }
  return ids
}

function idIn(text: string): string | undefined {
  try {
    const { id } = JSON.parse(text) as { readonly id?: unknown }
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}
