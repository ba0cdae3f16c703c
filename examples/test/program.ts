import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const WAIT_MAX_MS = 120_000

/** PGlite is WebAssembly. These processes live for seconds: optimising its code takes longer than they gain from it. */
const QUICK_START = ['--liftoff-only']

/** How a process ended, and its output. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** An example in its own process, which a test can read and kill. */
export class Program {
  readonly ended: Promise<Ended>
  readonly #child: ChildProcess
  readonly #listeners = new Set<() => void>()
  #out = ''
  #err = ''

  /** `file` is relative to examples/dist. `flags` are given to Node. */
  constructor(
    file: string,
    args: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
    flags: readonly string[] = QUICK_START,
  ) {
    const { DATABASE_URL: _, NO_COLOR: __, FORCE_COLOR: ___, ...inherited } = process.env
    const path = fileURLToPath(new URL(`../dist/${file}`, import.meta.url))
    this.#child = spawn(process.execPath, [...flags, path, ...args], {
      env: { ...inherited, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text
      for (const listener of this.#listeners) listener()
    })
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text
    })
    this.ended = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        resolve({ code, signal, out: this.#out, err: this.#err })
      })
    })
  }

  /** Waits until the process has printed this text. Rejects if the process ends first, or does not print it in time. */
  async says(text: string): Promise<void> {
    const heard = new Promise<void>((resolve, reject) => {
      const listener = () => {
        if (this.#out.includes(text)) resolve()
      }
      this.#listeners.add(listener)
      listener()
      // biome-ignore lint/style/noRestrictedGlobals: bounds a wait.
      const timer = setTimeout(() => reject(this.#missingText(text, 'in time')), WAIT_MAX_MS)
      timer.unref()
    })
    await Promise.race([
      heard,
      this.ended.then(() => {
        if (!this.#out.includes(text)) throw this.#missingText(text, 'before it ended')
      }),
    ])
  }

  /** What the process has printed so far. */
  get output(): string {
    return this.#out
  }

  kill(signal: NodeJS.Signals): Promise<Ended> {
    this.#child.kill(signal)
    return this.ended
  }

  /** Reads no more of what it prints, like `head` when it has enough. */
  closeOutput(): Promise<Ended> {
    this.#child.stdout!.destroy()
    return this.ended
  }

  #missingText(text: string, when: string): Error {
    return new Error(`The process did not say "${text}" ${when}. It said:\n${this.#out}\n${this.#err}`)
  }
}
