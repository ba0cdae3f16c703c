import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { until } from '../pause.ts'
import type { Effect } from './load.ts'
import type { Said, Setup, Told } from './protocol.ts'

const READY_MS = 30_000

/** A worker process, and how often it has said that the store went back. */
interface Member {
  readonly name: string
  readonly child: ChildProcess
  isReady: boolean
  wentBack: number
}

/** The processes of the load, and all that they have said. */
export class Crew {
  readonly effects: Effect[] = []
  /** Runs that were started, with their workflows. */
  readonly started = new Map<string, string>()
  /** How the wait for each run ended. */
  readonly ended = new Map<string, string>()
  readonly refused = new Map<string, number>()
  readonly workers: Member[] = []
  /** Processes that ended by themselves. */
  readonly deaths: string[] = []
  #trigger: Member | undefined
  #isClosing = false

  async addWorker(name: string, setup: Setup): Promise<void> {
    this.workers.push(await this.#start(name, 'worker.js', setup))
  }

  async addTrigger(setup: Setup): Promise<void> {
    this.#trigger = await this.#start('trigger', 'trigger.js', setup)
  }

  tell(told: Told): void {
    this.#trigger!.child.send(told)
  }

  close(): void {
    this.#isClosing = true
    for (const { child } of [...this.workers, ...(this.#trigger === undefined ? [] : [this.#trigger])])
      child.kill('SIGKILL')
  }

  async #start(name: string, file: string, setup: Setup): Promise<Member> {
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      env: { ...process.env, FAILOVER_SETUP: JSON.stringify(setup) },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const member: Member = { name, child, isReady: false, wentBack: 0 }
    child.on('message', (said: Said) => this.#hear(member, said))
    child.on('exit', (code, signal) => {
      if (!this.#isClosing) this.deaths.push(`${name} ended by itself (${signal ?? code})`)
    })
    if (!(await until(READY_MS, 20, () => member.isReady)))
      throw new Error(`The process ${name} was not ready within ${READY_MS / 1_000} s.`)
    return member
  }

  #hear(member: Member, said: Said): void {
    switch (said.type) {
      case 'ready':
        member.isReady = true
        break
      case 'went-back':
        member.wentBack += 1
        break
      case 'effect':
        this.effects.push(said.effect)
        break
      case 'started':
        this.started.set(said.runId, said.workflow)
        break
      case 'ended':
        this.ended.set(said.runId, said.how)
        break
      case 'refused':
        this.refused.set(said.code, (this.refused.get(said.code) ?? 0) + 1)
    }
  }
}
