import { compile } from '../code/compile.ts'
import { databaseOver, holdLock } from '../database/client.ts'
import {
  type AppCall,
  errorOf,
  type FromDatabase,
  type FromEngine,
  type Opening,
  type Problem,
  type ToApp,
  type ToDatabase,
  type ToWorker,
} from '../messages.ts'

/** What happens on the stage: told to the page in the order in which it happened. */
export type Told =
  | { readonly of: 'database'; readonly message: FromDatabase }
  | { readonly of: 'app'; readonly message: FromEngine }
  | { readonly of: 'worker'; readonly worker: string; readonly message: FromEngine }
  | { readonly of: 'crash'; readonly worker: string }

/** The threads: a database, an application that starts and shows runs, and workers that execute them. */
export class Stage {
  readonly #tell: (told: Told) => void
  readonly #workers = new Map<string, Worker>()
  readonly #calls = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  #database: Worker | undefined
  #app: Worker | undefined
  #code = ''
  #slowness = 1
  #clients = 0
  #count = 0

  constructor(tell: (told: Told) => void) {
    this.#tell = tell
  }

  /** Resolves to the reader's own connection, once the database is open. Rejects with what keeps it from opening. */
  async open({ fresh = false, inMemory = false }) {
    // Opened again: afresh, or in memory because another tab has the stored one.
    this.#database?.terminate()
    const database = new Worker('database.js', { type: 'module' })
    this.#database = database
    await new Promise<void>((opened, failed) => {
      database.onmessage = ({ data }: MessageEvent<FromDatabase>) => {
        if (data.type === 'opened') opened()
        if (data.type === 'failed') failed(errorOf(data.problem))
        this.#tell({ of: 'database', message: data })
      }
      database.onerror = ({ message }) => failed(new Error(message || 'The database’s script cannot run.'))
      this.#toDatabase({ type: 'open', fresh, inMemory })
    })
    const { lock, port } = this.#client('you')
    await holdLock(lock)
    return databaseOver(port)
  }

  /** Runs this code from now on: in a new application and new workers. Rejects with what is wrong in it. */
  async play(source: string, workers: readonly string[]): Promise<void> {
    const code = await compile(source, document.baseURI)
    this.#code = code
    this.#app?.terminate()
    for (const name of [...this.#workers.keys()]) this.#end(name)
    this.#app = await this.#opened('app.js', 'app', (message) => this.#ofApp(message))
    await Promise.all(workers.map((name) => this.addWorker(name)))
  }

  async addWorker(name: string): Promise<void> {
    const tell = (message: FromEngine) => this.#tell({ of: 'worker', worker: name, message })
    this.#workers.set(name, await this.#opened('worker.js', name, tell))
  }

  /** Its thread ends at once, whatever it does. */
  crash(name: string): void {
    this.#end(name)
    this.#tell({ of: 'crash', worker: name })
  }

  freeze(name: string, ms: number): void {
    this.#toWorker(name, { type: 'freeze', ms })
  }

  cut(ms: number): void {
    this.#toDatabase({ type: 'cut', ms })
  }

  slow(slowness: number): void {
    this.#slowness = slowness
    for (const name of this.#workers.keys()) this.#toWorker(name, { type: 'slowness', slowness })
  }

  /** Asks the application. */
  ask<Value>(call: AppCall): Promise<Value> {
    const id = ++this.#count
    return new Promise<Value>((resolve, reject) => {
      this.#calls.set(id, { resolve, reject })
      this.#app!.postMessage({ type: 'call', id, call } satisfies ToApp)
    })
  }

  #ofApp(message: FromEngine): void {
    if (message.type !== 'answer') return this.#tell({ of: 'app', message })
    const waiting = this.#calls.get(message.id)
    this.#calls.delete(message.id)
    if ('problem' in message) waiting?.reject(errorOf(message.problem))
    else waiting?.resolve(message.value as never)
  }

  #opened(script: string, name: string, tell: (message: FromEngine) => void): Promise<Worker> {
    const worker = new Worker(script, { type: 'module', name })
    const { lock, port } = this.#client(name)
    return new Promise((opened, failed) => {
      const fail = (problem: Problem) => {
        worker.terminate()
        failed(errorOf(problem))
      }
      worker.onmessage = ({ data }: MessageEvent<FromEngine>) => {
        if (data.type === 'opened') opened(worker)
        if (data.type === 'failed') fail(data.problem)
        tell(data)
      }
      worker.onerror = ({ message }) => fail({ name: 'Error', message: message || `${script} cannot run.` })
      const opening: Opening = {
        ...{ type: 'open', name, lock, database: port },
        ...{ code: this.#code, slowness: this.#slowness },
      }
      worker.postMessage(opening, [port])
    })
  }

  /** A connection to the database. Its lock has a name of its own, so that a worker that comes back is not the one that died. */
  #client(name: string): { readonly lock: string; readonly port: MessagePort } {
    const { port1, port2 } = new MessageChannel()
    const lock = `belay-playground-${performance.timeOrigin}-${++this.#clients}`
    this.#toDatabase({ type: 'client', name, lock, port: port1 }, [port1])
    return { lock, port: port2 }
  }

  #end(name: string): void {
    this.#workers.get(name)?.terminate()
    this.#workers.delete(name)
  }

  #toDatabase(message: ToDatabase, transfer: Transferable[] = []): void {
    this.#database?.postMessage(message, transfer)
  }

  #toWorker(name: string, message: ToWorker): void {
    this.#workers.get(name)?.postMessage(message)
  }
}
