import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { expect, onTestFinished } from 'vitest'

const PROGRAM = fileURLToPath(new URL('../../bundle/bin.js', import.meta.url))

export interface Terminal {
  /** What a person sees now: the lines of the screen, and above them what has scrolled away. */
  readonly screen: () => string
  /** Lines that were longer than the terminal is wide. */
  readonly overruns: () => readonly string[]
  /** Whether the cursor is shown. */
  readonly showsCursor: () => boolean
  /** Everything that was written, with its commands to the terminal. */
  readonly written: () => string
  readonly type: (keys: string) => void
  /** Resolves once the screen has this text. */
  readonly sees: (text: string | RegExp) => Promise<void>
  /** Resolves to the exit status. */
  readonly exit: Promise<number>
}

export interface TerminalOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly columns?: number
  readonly rows?: number
  readonly cwd?: string
}

/** Runs `belay` in a pseudo terminal whose screen is drawn by xterm. It is killed when the test has finished. */
export function terminal(argv: readonly string[], options: TerminalOptions): Terminal {
  return program(process.execPath, [PROGRAM, ...argv], options)
}

/** Runs any program in one. */
export function program(
  file: string,
  argv: readonly string[],
  { env, columns = 80, rows = 40, cwd = process.cwd() }: TerminalOptions,
): Terminal {
  const screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1_000 })
  const environment = { ...process.env, NO_COLOR: '1', TERM: 'xterm-256color', TZ: 'UTC', ...env }
  const child = spawn(file, [...argv], {
    cols: columns,
    rows,
    cwd,
    env: environment as Record<string, string>,
  })
  let [written, shows] = ['', true]
  let drawn = Promise.resolve()
  child.onData((bytes) => {
    written += bytes
    const [shown, hidden] = [bytes.lastIndexOf('\u001b[?25h'), bytes.lastIndexOf('\u001b[?25l')]
    if (shown !== hidden) shows = shown > hidden
    drawn = drawn.then(() => new Promise((resolve) => screen.write(bytes, resolve)))
  })
  let hasEnded = false
  const exit = new Promise<number>((resolve) => {
    child.onExit(({ exitCode }) => {
      hasEnded = true
      void drawn.then(() => resolve(exitCode))
    })
  })
  onTestFinished(() => {
    if (!hasEnded) child.kill('SIGKILL')
    screen.dispose()
  })
  const text = () => linesOf(screen)
  return {
    screen: text,
    overruns: () => wrappedLines(screen),
    showsCursor: () => shows,
    written: () => written,
    type: (keys) => child.write(keys),
    sees: async (wanted) => {
      await expect.poll(text, { interval: 20 }).toMatch(wanted)
    },
    exit,
  }
}

function wrappedLines({ buffer: { active } }: xterm.Terminal): readonly string[] {
  return Array.from({ length: active.length }, (_, index) => active.getLine(index)!)
    .filter((line) => line.isWrapped)
    .map((line) => line.translateToString(true))
}

function linesOf({ buffer }: xterm.Terminal): string {
  const { active } = buffer
  const lines = Array.from({ length: active.length }, (_, index) =>
    (active.getLine(index)?.translateToString(true) ?? '').trimEnd(),
  )
  return lines.join('\n').trimEnd()
}
