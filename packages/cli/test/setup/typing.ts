import { PassThrough } from 'node:stream'
import { main } from '../../src/main.ts'
import type { Said } from './belay.ts'

/** Calls the command line as somebody at a terminal who types these lines. */
export async function typing(
  argv: readonly string[],
  lines: string,
  { env = {}, cwd = '.' }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string },
): Promise<Said> {
  const said = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof said) => ({
    write(text: string) {
      said[name] += text
      return true
    },
    columns: 80,
    isTTY: true,
  })
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  stdin.end(lines)
  const status = await main(
    argv,
    {
      stdin,
      stdout: sink('stdout'),
      stderr: sink('stderr'),
      env: { NO_COLOR: '1', TZ: 'UTC', ...env },
      cwd: () => cwd,
    },
    { version: '0.0.0-test', signal: new AbortController().signal },
  )
  return { status, ...said }
}
