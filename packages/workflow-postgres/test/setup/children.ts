import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))

/** Compiles the package: other processes can run it only as JavaScript. */
export function compile(): void {
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  execFileSync(process.execPath, [join(typescript, 'bin/tsc'), '-b'], { cwd: PACKAGE, stdio: 'inherit' })
}

export interface Child {
  readonly process: ChildProcess
  /** The next line that it prints, parsed as JSON. */
  line(): Promise<unknown>
  kill(signal: NodeJS.Signals): Promise<void>
}

/** Runs a script of test/processes in another process. The script ends when its standard input does. */
export function spawnScript(script: string, ...args: readonly string[]): Child {
  const file = join(PACKAGE, 'test/processes', script)
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    process: child,
    async line() {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`${script} ended without another line.`)
      return JSON.parse(value)
    },
    async kill(signal) {
      child.kill(signal)
      await ended
    },
  }
}
