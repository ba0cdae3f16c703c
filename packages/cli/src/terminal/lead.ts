import type { Output } from './output.ts'
import type { Shown } from './shapes.ts'

/** The shape before a sentence, with a blank; nothing in a pipe and with `--plain`. */
export function lead(out: Output, shown: Shown): string {
  return out.isTerminal && !out.plain ? `${out.shape(shown)} ` : ''
}
