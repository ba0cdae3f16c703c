import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CommandName, Commands, Message, Request, WorkerSetup } from './messages.ts'

const program = fileURLToPath(new URL('./program.js', import.meta.url))

// Longer than any command may take: a worker that hangs must not hang the benchmark.
const COMMAND_TIMEOUT_MS = 600_000
const CLOSE_TIMEOUT_MS = 20_000

/** A worker in its own process, which ends with this process. */
export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #open = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  readonly #listeners = new Set<() => void>()
  #commands = 0
  #stderr = ''
  #ended: { readonly runs: number; readonly atMs: number } = { runs: 0, atMs: 0 }
  #failure: Error | undefined

  /** Starts a process with an engine that is set up but does not work yet. */
  static async open(setup: WorkerSetup): Promise<WorkerProcess> {
    const worker = new WorkerProcess()
    try {
      await worker.tell('open', setup)
      return worker
    } catch (error) {
      worker.kill()
      throw error
    }
  }

  private constructor() {
    this.#child = fork(program, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-4_000)
    })
    this.#child.on('message', (message: Message) => this.#hear(message))
    this.#child.once('error', (error) => this.#fail(error))
    this.#child.once('close', (code, signal) =>
      this.#fail(new Error(`A worker process ended with ${signal ?? code}. ${this.#stderr}`.trim())),
    )
  }

  /** How many runs have ended in this worker so far, and when the last one did, on the shared clock. */
  get ended(): { readonly runs: number; readonly atMs: number } {
    return this.#ended
  }

  /** Why it is gone, if it is. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Calls back whenever `ended` or `failure` changes. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  tell<Name extends CommandName>(
    name: Name,
    argument: Commands[Name]['argument'],
    timeoutMs = COMMAND_TIMEOUT_MS,
  ): Promise<Commands[Name]['answer']> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    this.#commands += 1
    const request: Request<Name> = { id: this.#commands, name, argument }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`A worker did not "${name}" within ${timeoutMs / 1_000} s.`)),
        timeoutMs,
      )
      const over = <Value>(then: (value: Value) => void) => {
        return (value: Value) => {
          clearTimeout(timer)
          this.#open.delete(request.id)
          then(value)
        }
      }
      this.#open.set(request.id, {
        resolve: over(resolve as (answer: unknown) => void),
        reject: over(reject),
      })
      this.#child.send(request)
    })
  }

  /** Closes its engine, then ends the process. Never throws: the measurements are done. */
  async close(): Promise<void> {
    await this.tell('close', null, CLOSE_TIMEOUT_MS).catch(() => {})
    this.kill()
  }

  kill(): void {
    this.#failure ??= new Error('This worker process was ended.')
    this.#child.kill('SIGKILL')
  }

  #hear(message: Message): void {
    if (message.kind === 'ended') {
      this.#ended = message
      for (const listener of this.#listeners) listener()
    } else if (message.kind === 'answer') {
      this.#open.get(message.id)?.resolve(message.answer)
    } else {
      this.#open.get(message.id)?.reject(new Error(message.message))
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const { reject } of [...this.#open.values()]) reject(this.#failure)
    for (const listener of this.#listeners) listener()
  }
}
