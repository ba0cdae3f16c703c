import type { Output } from './output.ts'
import type { Sink } from './sink.ts'

const WIDTH = 20

/** A bar on stderr at a terminal; nothing in a pipe or with `--plain`. */
export function progressOf(
  { process, out }: { readonly process: { readonly stderr: Sink }; readonly out: Output },
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
