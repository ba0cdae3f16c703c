import pg, { type ClientBase } from 'pg'
import { CONNECT_TIMEOUT_MS } from './pool.ts'
import { processIdOf } from './session.ts'

// What pg's own classes have, and their types don't tell.
interface CancelClient {
  readonly host: string
  readonly port: number
  readonly secretKey: unknown
  readonly ssl: unknown
}

interface CancelConnection {
  readonly stream: { destroy(): void }
  on(event: string, listener: () => void): this
  connect(port: number | string, host?: string): void
  requestSsl(): void
  cancel(processId: number, secretKey: unknown): void
}

/**
 * Asks for the end of a client's statement the way the protocol has it: on a connection of its own, with the key that the client was given.
 * It is the one way through a pooler, which alone knows the session that runs the statement. Resolves when the server has closed it.
 */
export async function requestCancel(client: ClientBase): Promise<void> {
  const { host, port, secretKey, ssl } = client as unknown as CancelClient
  const Connection = pg.Connection as unknown as new (options: { ssl: unknown }) => CancelConnection
  const connection = new Connection({ ssl })
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => connection.stream.destroy(), CONNECT_TIMEOUT_MS)
    const send = () => connection.cancel(processIdOf(client), secretKey)
    connection.on('connect', () => (ssl ? connection.requestSsl() : send()))
    connection.on('sslconnect', send)
    connection.on('error', () => connection.stream.destroy())
    connection.on('end', () => {
      clearTimeout(timer)
      resolve()
    })
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
    else connection.connect(port, host)
  })
}
