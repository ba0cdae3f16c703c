import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { until } from '../pause.ts'
import { type Conditions, Pipe } from './pipe.ts'

const LISTEN_AGAIN_MS = 10_000

/** A TCP proxy on the loopback address in front of one server, whose network can be made to misbehave. */
export class TcpProxy {
  #target: number
  readonly #pipes = new Set<Pipe>()
  readonly #conditions: Conditions = { delayMs: 0, silent: false, onCommit: undefined, onReply: undefined }
  #server: Server
  #port = 0

  static async open(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    await proxy.#listen()
    return proxy
  }

  private constructor(target: number) {
    this.#target = target
    this.#server = this.#makeServer()
  }

  get port(): number {
    return this.#port
  }

  /** New connections go to another server, like those to a name that a failover has moved. */
  redirect(target: number): void {
    this.#target = target
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#pipes.size
  }

  /** Delays every chunk by this time, in milliseconds; 0 for none. */
  delay(ms: number): void {
    this.#conditions.delayMs = ms
  }

  /** Resets every connection. */
  reset(): void {
    for (const pipe of this.#pipes) pipe.reset()
  }

  /** Nothing gets through, nothing is closed, and new connections are accepted without an answer. */
  goSilent(): void {
    this.#conditions.silent = true
  }

  /**
   * New connections get through again. Connections that lost something stay silent for ever on the client's side, as if their peer had vanished; the
   * server sees them end.
   */
  endSilence(): void {
    this.#conditions.silent = false
    for (const pipe of this.#pipes) if (pipe.isTorn) pipe.abandon()
    for (const pipe of this.#orphans) pipe.abandon()
    this.#orphans.clear()
  }

  /** Refuses new connections and resets the existing ones, until `accept()`. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.reset()
    await closed
  }

  async accept(): Promise<void> {
    if (this.#server.listening) return
    const isListening = () =>
      this.#listen().then(
        () => true,
        () => false,
      )
    // Another process may use the port for an outgoing connection for a moment.
    if (!(await until(LISTEN_AGAIN_MS, 50, isListening)))
      throw new Error(`The proxy's port ${this.#port} was taken meanwhile.`)
  }

  /** Swallows the answers of the next `count` COMMITs after the server has given them, and resets their connections. */
  dropCommits(count: number): void {
    let left = count
    this.#conditions.onCommit = () => {
      left -= 1
      if (left <= 0) this.#conditions.onCommit = undefined
      return 'drop'
    }
  }

  /** The same for the next `count` statements of any kind. Each commits by itself, unless it is part of a transaction. */
  dropReplies(count: number): void {
    let left = count
    this.#conditions.onReply = () => {
      left -= 1
      if (left <= 0) this.#conditions.onReply = undefined
      return 'drop'
    }
  }

  /** Reports each backend that was just sent a COMMIT; `undefined` ends it. */
  watchCommits(listener: ((pid: number) => void) | undefined): void {
    if (listener === undefined) this.#conditions.onCommit = undefined
    else
      this.#conditions.onCommit = ({ pid }) => {
        if (pid !== undefined) listener(pid)
        return 'pass'
      }
  }

  /** Restores normal conditions. */
  async heal(): Promise<void> {
    Object.assign(this.#conditions, { delayMs: 0, onCommit: undefined, onReply: undefined })
    if (this.#conditions.silent) this.endSilence()
    await this.accept()
  }

  async close(): Promise<void> {
    this.reset()
    for (const pipe of this.#orphans) pipe.abandon()
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  /** Pipes whose clients left during a silence: the server does not know yet. */
  readonly #orphans = new Set<Pipe>()

  async #listen(): Promise<void> {
    this.#server = this.#makeServer()
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  #makeServer(): Server {
    return createServer((client) => this.#connect(client))
  }

  #connect(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1')
    const pipe = new Pipe(client, server, this.#conditions, (ended) => {
      this.#pipes.delete(ended)
      if (ended.isTorn && this.#conditions.silent) this.#orphans.add(ended)
    })
    this.#pipes.add(pipe)
  }
}
