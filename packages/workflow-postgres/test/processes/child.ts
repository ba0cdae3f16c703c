import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Line {
  readonly event?: string
  readonly call?: string
  readonly step?: string
  readonly reason?: string
  readonly id?: string
  readonly left?: readonly string[]
}

/** A real worker process, and the lines it has printed so far. */
export class WorkerProcess {
  readonly lines: Line[] = []
  readonly #child: ChildProcess
  readonly #watchers = new Set<() => void>()
  #errors = ''
  #exited = false

  constructor(env: Readonly<Record<string, string>>, script = 'worker.mjs') {
    const path = fileURLToPath(new URL(script, import.meta.url))
    this.#child = spawn(process.execPath, [path], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      this.lines.push(JSON.parse(line))
      for (const watcher of this.#watchers) watcher()
    })
    this.#child.stderr!.on('data', (chunk) => {
      this.#errors += chunk
    })
    this.#child.on('exit', () => {
      this.#exited = true
      for (const watcher of this.#watchers) watcher()
    })
  }

  /** Waits until its lines satisfy a condition; rejects if it exits first. */
  async says(what: string, condition: (lines: readonly Line[]) => boolean): Promise<void> {
    while (!condition(this.lines)) {
      if (this.#exited) throw new Error(`The worker exited before: ${what}. ${this.#errors}`)
      await new Promise<void>((resolve) => {
        const watcher = () => {
          this.#watchers.delete(watcher)
          resolve()
        }
        this.#watchers.add(watcher)
      })
    }
  }

  saysEvent(event: string, step?: string): Promise<void> {
    return this.says(event, (lines) =>
      lines.some((l) => l.event === event && (step === undefined || l.step === step)),
    )
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Sends SIGKILL, and waits until it is gone. */
  async kill(): Promise<void> {
    if (this.#exited) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }

  /** Sends SIGTERM, and waits for its exit code. */
  async leave(): Promise<number | null> {
    const exit = this.exit()
    this.#child.kill('SIGTERM')
    return exit
  }

  /** Its exit code, once it is gone. */
  async exit(): Promise<number | null> {
    const [code] = await once(this.#child, 'exit')
    return code
  }
}
