import { compile } from '../code/compile.ts'
import { placed } from '../code/place.ts'
import { databaseOver, holdLock } from '../database/client.ts'
import {
  type AppCall,
  errorOf,
  type FromDatabase,
  type FromEngine,
  type Opening,
  type Pace,
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

/** The code of what is answered to calls of code that plays no more. */
export const REPLACED = 'APPLICATION_REPLACED'

/** An application that takes longer to begin has code that does not end. */
const OPEN_MAX_MS = 15_000

/** The threads: a database, an application that starts and shows runs, and workers that execute them. */
export class Stage {
  readonly #tell: (told: Told) => void
  readonly #workers = new Map<string, Worker>()
  readonly #calls = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  #database: Worker | undefined
  #app: Worker | undefined
  #code = ''
  #turn = 0
  #pace: Pace
  #clients = 0
  #count = 0

  constructor(pace: Pace, tell: (told: Told) => void) {
    this.#pace = pace
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

  /**
   * Ends what played, and runs this code from now on, in a new application and with no workers yet. Rejects with what is wrong in the code: then what played goes
   * on. Resolves to false if other code was played meanwhile.
   */
  async play(source: string): Promise<boolean> {
    this.#turn += 1
    const turn = this.#turn
    const code = await compile(source, document.baseURI)
    const app = new Worker('app.js', { type: 'module', name: 'app' })
    try {
      await this.#opened(app, 'app', code, (message) => this.#ofApp(message))
    } catch (error) {
      throw await placed(error, source)
    }
    if (turn !== this.#turn) {
      app.terminate()
      return false
    }
    this.#app?.terminate()
    this.#refuseCalls()
    for (const name of [...this.#workers.keys()]) this.#end(name)
    this.#app = app
    this.#code = code
    return true
  }

  async addWorker(name: string): Promise<void> {
    const worker = new Worker('worker.js', { type: 'module', name })
    this.#workers.set(name, worker)
    await this.#opened(worker, name, this.#code, (message) =>
      this.#tell({ of: 'worker', worker: name, message }),
    )
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

  setPace(pace: Pace): void {
    this.#pace = pace
    for (const name of this.#workers.keys()) this.#toWorker(name, { type: 'pace', pace })
  }

  /** Asks the application. */
  ask<Value>(call: AppCall): Promise<Value> {
    const id = ++this.#count
    return new Promise<Value>((resolve, reject) => {
      this.#calls.set(id, { resolve, reject })
      this.#app!.postMessage({ type: 'call', id, call } satisfies ToApp)
    })
  }

  /** The application that was asked is gone. */
  #refuseCalls(): void {
    for (const { reject } of this.#calls.values())
      reject(errorOf({ name: 'Error', code: REPLACED, message: 'Other code plays now: ask again.' }))
    this.#calls.clear()
  }

  #ofApp(message: FromEngine): void {
    if (message.type !== 'answer') return this.#tell({ of: 'app', message })
    const waiting = this.#calls.get(message.id)
    this.#calls.delete(message.id)
    if ('problem' in message) waiting?.reject(errorOf(message.problem))
    else waiting?.resolve(message.value as never)
  }

  #opened(worker: Worker, name: string, code: string, tell: (message: FromEngine) => void): Promise<void> {
    const { lock, port } = this.#client(name)
    return new Promise((opened, failed) => {
      const fail = (problem: Problem) => {
        clearTimeout(tooLate)
        worker.terminate()
        failed(errorOf(problem))
      }
      const tooLate = setTimeout(() => {
        const message = `The code has not come to its end within ${OPEN_MAX_MS / 1_000} s: is there a loop outside of the steps?`
        fail({ name: 'Error', message })
      }, OPEN_MAX_MS)
      worker.onmessage = ({ data }: MessageEvent<FromEngine>) => {
        if (data.type === 'opened') {
          clearTimeout(tooLate)
          opened()
        }
        if (data.type === 'failed') fail(data.problem)
        tell(data)
      }
      worker.onerror = ({ message }) => fail({ name: 'Error', message: message || `${name} cannot run.` })
      const opening: Opening = {
        ...{ type: 'open', name, lock, database: port },
        ...{ code, pace: this.#pace },
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
