import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { ChildSetup, Command, Message } from '../child/protocol.ts'
import type { Guard } from './guard.ts'

const STDERR_MAX = 4_000

export interface ChildParts {
  readonly program: string
  readonly setup: ChildSetup
  readonly guard: Guard
  readonly onMessage: (message: Message) => void
  /** Called if it ends without having been told to. */
  readonly onDeath: (sentence: string) => void
}

/** A process of the harness. It exchanges lines with the supervisor, and can be killed, stopped and continued. */
export class Child {
  readonly name: string
  readonly startedAt = performance.now()
  /** When it was stopped and continued by signals. The world uses the same clock, the machine's. */
  readonly freezes: { readonly from: Date; to: Date | undefined }[] = []
  readonly ended: Promise<void>
  /** When it was killed, or was seen to have ended. */
  goneAt: Date | undefined
  readonly #process: ChildProcess
  #isExpectedToEnd = false
  #hasEnded = false
  #isReady = false
  #stderr = ''

  constructor({ program, setup, guard, onMessage, onDeath }: ChildParts) {
    this.name = setup.name
    this.#process = spawn(process.execPath, [program], {
      env: { ...process.env, CHAOS_SETUP: JSON.stringify(setup) },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const pid = this.#process.pid!
    guard.watch(pid)
    this.#process.stdin!.on('error', () => {})
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_MAX)
    })
    createInterface({ input: this.#process.stdout! }).on('line', (line) => {
      const message = JSON.parse(line) as Message
      if (message.type === 'ready') this.#isReady = true
      onMessage(message)
    })
    this.ended = new Promise((resolve) => {
      this.#process.once('close', (code, signal) => {
        this.#hasEnded = true
        this.goneAt ??= new Date()
        guard.forget(pid)
        if (!this.#isExpectedToEnd || (code !== 0 && signal === null)) onDeath(this.#lastWords(code, signal))
        resolve()
      })
    })
  }

  get isReady(): boolean {
    return this.#isReady
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  get isFrozen(): boolean {
    return this.freezes.some(({ to }) => to === undefined)
  }

  tell(command: Command): void {
    if (!this.#hasEnded) this.#process.stdin!.write(`${JSON.stringify(command)}\n`)
  }

  /** Tells it to leave in order. Exit code 0 after that is not a death. */
  leave(): void {
    this.#isExpectedToEnd = true
    this.tell({ type: 'leave' })
  }

  /** Sends SIGKILL, and waits until it is gone. */
  async kill(): Promise<void> {
    this.#isExpectedToEnd = true
    this.#process.kill('SIGKILL')
    this.goneAt ??= new Date()
    await this.ended
  }

  freeze(): void {
    this.freezes.push({ from: new Date(), to: undefined })
    this.#process.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process.kill('SIGCONT')
    for (const freeze of this.freezes) freeze.to ??= new Date()
  }

  #lastWords(code: number | null, signal: NodeJS.Signals | null): string {
    const how = signal === null ? `exited with ${code}` : `was ended by ${signal}`
    return `The process ${this.name} ${how} by itself. Its last words: ${this.#stderr.trim() || 'none'}`
  }
}
