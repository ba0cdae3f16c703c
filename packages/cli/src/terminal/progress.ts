import type { Call } from '../call.ts'

const WIDTH = 20

/** A bar on stderr at a terminal; nothing in a pipe or with `--plain`. */
export function progressOf(
  { process, out }: Pick<Call, 'process' | 'out'>,
  total: number,
): { show(done: number): void; end(): void } {
  const isShown = process.stderr.isTTY === true && !out.plain
  const [full, empty] = out.isAscii ? ['#', '.'] : ['█', '░']
  return {
    show(done) {
      if (!isShown) return
      const filled = total === 0 ? WIDTH : Math.floor((done / total) * WIDTH)
      out.rawNote(`\r  ${full.repeat(filled)}${empty.repeat(WIDTH - filled)}  ${done} of ${total}`)
    },
    end() {
      if (isShown) out.note()
    },
  }
}
