import pg, { type ClientBase } from 'pg'
import { CONNECT_TIMEOUT_MS } from './pool.ts'
import { processIdOf } from './session.ts'

// Properties of pg's own classes that their types omit.
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
 * Cancels a client's statement by the protocol: over a new connection, with the key that the client was given. It is the only way through a pooler,
 * because only the pooler knows which session runs the statement. Resolves when the server has closed the new connection.
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
