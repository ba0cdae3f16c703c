import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Duration } from '@belay/workflow'

export interface WorkerSettings {
  readonly url: string
  /** Like `worker A`. */
  readonly name: string
  readonly lease: Duration
  readonly paceMs: number
  /** How long the card network takes not to answer. */
  readonly silentMs: number
}

export type WorkerOrders = 'stop'

/** A worker process. */
export interface Member {
  readonly name: string
  readonly pid: number
  readonly isKilled: boolean
}

const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url))
const SIZE = 2
const STOP_MAX_MS = 2_000

/** The worker processes of the tour. They end with this process, by whatever cause it ends. */
export class Crew {
  /** Rejects when a process ends that nobody has killed or stopped. */
  readonly broken: Promise<never>
  readonly #settings: Omit<WorkerSettings, 'name'>
  #members: readonly WorkerProcess[] = []
  #hired = 0
  readonly #reportBroken: (error: Error) => void

  constructor(settings: Omit<WorkerSettings, 'name'>) {
    this.#settings = settings
    const { promise, reject } = withRejection()
    this.broken = promise
    this.#reportBroken = reject
  }

  /** Who works, or was killed since the crew was last complete. */
  get members(): readonly Member[] {
    return this.#members
  }

  /** Replaces those that were killed. Resolves when two work. */
  async complete(): Promise<void> {
    this.#members = this.#members.filter(({ isKilled }) => !isKilled)
    const newcomers = Array.from({ length: SIZE - this.#members.length }, () => this.#hire())
    await Promise.race([this.broken, Promise.all(newcomers.map((newcomer) => newcomer.working))])
  }

  /** `kill -9`. */
  kill(name: string): void {
    this.#members.find((member) => member.name === name)?.kill()
  }

  /** Ends all of them. One that does not end in time is killed. */
  async dismiss(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.stop()))
  }

  #hire(): WorkerProcess {
    const name = `worker ${String.fromCharCode(65 + this.#hired)}`
    const newcomer = new WorkerProcess({ ...this.#settings, name }, this.#reportBroken)
    this.#hired += 1
    this.#members = [...this.#members, newcomer]
    return newcomer
  }
}

class WorkerProcess implements Member {
  readonly name: string
  readonly working: Promise<unknown>
  isKilled = false
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  #isStopped = false

  constructor(settings: WorkerSettings, onBroken: (error: Error) => void) {
    this.name = settings.name
    this.#child = fork(WORKER, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    let said = ''
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2_000)
    })
    this.working = once(this.#child, 'message')
    // Only the crew's promise tells that a process failed.
    this.working.catch(() => {})
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.once('error', onBroken)
    this.#child.once('close', (code) => {
      if (this.isKilled || this.#isStopped) return
      onBroken(
        new Error(`The process of ${this.name} ended with ${code}, although nobody ended it:\n${said}`),
      )
    })
    this.#child.send(settings)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  kill(): void {
    this.isKilled = true
    this.#child.kill('SIGKILL')
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    const orders: WorkerOrders = 'stop'
    // It may have ended.
    if (this.#child.connected) this.#child.send(orders, () => {})
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MAX_MS)
    await this.#ended
    clearTimeout(timer)
  }
}

function withRejection() {
  let reject!: (error: Error) => void
  const promise = new Promise<never>((_, refuse) => {
    reject = refuse
  })
  // Nobody may wait for it when it rejects.
  promise.catch(() => {})
  return { promise, reject }
}
