import { PassThrough } from 'node:stream'
import xterm from '@xterm/headless'
import { expect } from 'vitest'
import { main } from '../../src/main.ts'

/** A terminal in which `belay` runs, in this process: it has keys, redraws, and Ctrl-C. */
export interface TestTerminal {
  /** What is seen, without the empty lines below. */
  screen(): string
  /** Waits until the screen shows this. */
  sees(text: string | RegExp): Promise<void>
  press(key: string): void
  /** Ctrl-C as a signal. */
  interrupt(): void
  /** Every byte that was written to it. */
  readonly written: () => string
  readonly isRaw: () => boolean
  readonly status: Promise<number>
}

/** Calls `belay` in a terminal of its own. */
export function inTerminal(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { columns = 80, rows = 24 }: { readonly columns?: number; readonly rows?: number } = {},
): TestTerminal {
  const terminal = new xterm.Terminal({ cols: columns, rows, convertEol: true, allowProposedApi: true })
  let [written, isRaw] = ['', false]
  const write = (text: string) => {
    written += text
    terminal.write(text)
    return true
  }
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode(raw: boolean) {
      isRaw = raw
    },
  })
  const sink = { isTTY: true, columns, rows, write }
  const interruption = new AbortController()
  const status = main(
    argv,
    { stdin, stdout: sink, stderr: sink, env: { NO_COLOR: '1', ...env }, cwd: () => process.cwd() },
    { version: '0.0.0-test', signal: interruption.signal },
  )
  const screen = () => {
    const { active } = terminal.buffer
    const lines = Array.from({ length: active.length }, (_, row) =>
      active.getLine(row)!.translateToString(true),
    )
    return lines.join('\n').trimEnd()
  }
  return {
    screen,
    sees: (text) => expect.poll(screen, { timeout: 10_000 }).toMatch(text),
    press: (key) => stdin.write(key),
    interrupt: () => interruption.abort(),
    written: () => written,
    isRaw: () => isRaw,
    status,
  }
}
