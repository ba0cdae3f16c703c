import { PassThrough } from 'node:stream'
import { main } from '../../src/main.ts'

export interface Said {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export interface HowToCall {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** What is piped to it. */
  readonly input?: string
  /** A terminal of that many columns instead of a pipe, without colours. */
  readonly columns?: number
  /** What a person types at that terminal, instead of what is piped to it. */
  readonly typed?: string
  /** Ctrl-C. */
  readonly signal?: AbortSignal
  /** Called with all that was written so far, after each write to stderr. */
  readonly onNote?: (stderr: string) => void
  /** The same for stdout. */
  readonly onLine?: (stdout: string) => void
}

/** Calls the command line in this process: `belay(['list', '--json'], { env })`. For keys, redrawing and Ctrl-C there is the pseudo terminal. */
export async function belay(
  argv: readonly string[],
  { env = {}, cwd = process.cwd(), input, columns, typed, signal, onNote, onLine }: HowToCall = {},
): Promise<Said> {
  const said = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      said[name] += text
      if (name === 'stderr') onNote?.(said.stderr)
      else onLine?.(said.stdout)
      return true
    },
    ...(columns === undefined ? {} : { isTTY: true, columns }),
  })
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined })
  stdin.end(typed ?? input ?? '')
  const status = await main(
    argv,
    {
      stdin,
      stdout: sink('stdout'),
      stderr: sink('stderr'),
      env: { NO_COLOR: '1', TZ: 'UTC', ...env },
      cwd: () => cwd,
    },
    { version: '0.0.0-test', signal: signal ?? new AbortController().signal },
  )
  return { status, ...said }
}
