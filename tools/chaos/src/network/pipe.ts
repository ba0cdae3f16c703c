import type { Socket } from 'node:net'
import { backendPid, endsReply, isCommit } from './messages.ts'

/** What happens to the bytes of one connection. */
export interface Conditions {
  /** Each chunk arrives this much later, in milliseconds. */
  delayMs: number
  /** Nothing gets through in either direction, and nobody is told. */
  silent: boolean
  /** Called when a COMMIT has been passed on. `drop`: its answer is swallowed and the connection reset. */
  onCommit: ((pipe: Pipe) => 'drop' | 'pass') | undefined
  /** Called when an answer of the server is complete. `drop`: it is swallowed and the connection reset. */
  onReply: (() => 'drop' | 'pass') | undefined
}

/** One connection through the proxy: the client's half and the server's. */
export class Pipe {
  /** The process id of the server's backend, once the server has told the client. */
  pid: number | undefined
  readonly #client: Socket
  readonly #server: Socket
  readonly #conditions: Conditions
  #greeting: Buffer | undefined = Buffer.alloc(0)
  #doomed = false
  /** Bytes were lost: nothing may get through any more, or both ends would misread each other. */
  #torn = false

  constructor(client: Socket, server: Socket, conditions: Conditions, onEnd: (pipe: Pipe) => void) {
    this.#client = client
    this.#server = server
    this.#conditions = conditions
    client.on('data', (chunk) => this.#fromClient(chunk))
    server.on('data', (chunk) => this.#fromServer(chunk))
    for (const socket of [client, server]) socket.on('error', () => {}).setNoDelay(true)
    client.on('close', () => this.#clientIsGone(onEnd))
    server.on('close', () => {
      // The client of a torn connection must notice nothing: its peer vanished silently.
      if (!this.#torn) client.destroy()
    })
  }

  /** Resets both halves. */
  reset(): void {
    this.#client.resetAndDestroy()
    this.#server.resetAndDestroy()
  }

  /** Ends the server's half. The client's half stays open and silent as long as the client keeps it. */
  abandon(): void {
    this.#torn = true
    this.#server.destroy()
  }

  get isTorn(): boolean {
    return this.#torn
  }

  #clientIsGone(onEnd: (pipe: Pipe) => void): void {
    // During a silence, the server does not learn of it either.
    if (!(this.#torn && this.#conditions.silent)) this.#server.destroy()
    onEnd(this)
  }

  #fromClient(chunk: Buffer): void {
    if (!this.#passes()) return
    this.#send(this.#server, chunk)
    if (this.#conditions.onCommit !== undefined && isCommit(chunk)) {
      if (this.#conditions.onCommit(this) === 'drop') this.#doomed = true
    }
  }

  #fromServer(chunk: Buffer): void {
    if (!this.#passes()) return
    this.#readGreeting(chunk)
    if (this.#greeting === undefined && endsReply(chunk) && this.#drops()) {
      this.reset()
      return
    }
    this.#send(this.#client, chunk)
  }

  #drops(): boolean {
    return this.#doomed || this.#conditions.onReply?.() === 'drop'
  }

  #passes(): boolean {
    if (this.#conditions.silent) this.#torn = true
    return !this.#torn
  }

  #send(to: Socket, chunk: Buffer): void {
    const { delayMs } = this.#conditions
    // Timers of equal length fire in order, and so do those set after longer ones have fired.
    if (delayMs === 0 && this.#late === 0) to.write(chunk)
    else this.#sendLater(to, chunk, delayMs)
  }

  #late = 0

  #sendLater(to: Socket, chunk: Buffer, delayMs: number): void {
    const dueAt = Math.max(performance.now() + delayMs, this.#lastDueAt)
    this.#lastDueAt = dueAt
    this.#late += 1
    this.#queue.push({ to, chunk })
    setTimeout(() => {
      this.#late -= 1
      const next = this.#queue.shift()
      if (next !== undefined && !next.to.destroyed && this.#passes()) next.to.write(next.chunk)
    }, dueAt - performance.now())
  }

  #lastDueAt = 0
  readonly #queue: { to: Socket; chunk: Buffer }[] = []

  #readGreeting(chunk: Buffer): void {
    if (this.#greeting === undefined) return
    this.#greeting = Buffer.concat([this.#greeting, chunk])
    const pid = backendPid(this.#greeting)
    if (pid === 'incomplete') return
    this.pid = pid
    this.#greeting = undefined
  }
}
