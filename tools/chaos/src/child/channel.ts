import dns from 'node:dns'
import { createInterface } from 'node:readline'
import { type ChildSetup, type Command, DATABASE_HOST, type Message } from './protocol.ts'

/** A child's connection to its supervisor. The process ends as soon as the supervisor does, because its standard input then closes. */
export function openChannel<Setup extends ChildSetup>(onCommand: (command: Command) => void) {
  const setup = JSON.parse(process.env['CHAOS_SETUP']!) as Setup
  const lookup = nameService()
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => {
    const command = JSON.parse(line) as Command
    if (command.type === 'name') lookup.found = command.found
    else onCommand(command)
  })
  lines.on('close', () => process.exit(1))
  process.stdout.on('error', () => process.exit(1))
  const say = (message: Message) => void process.stdout.write(`${JSON.stringify(message)}\n`)
  return { setup, say }
}

/** Resolves the database's name to the loopback address, or fails like a failing name service. */
function nameService(): { found: boolean } {
  const service = { found: true }
  const original = dns.lookup
  const lookup = (host: string, options: unknown, callback: (...answer: unknown[]) => void) => {
    if (host !== DATABASE_HOST) return Reflect.apply(original, dns, [host, options, callback])
    if (!service.found) {
      const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), {
        code: 'ENOTFOUND',
        errno: -3008,
        syscall: 'getaddrinfo',
        hostname: host,
      })
      return setImmediate(callback, error)
    }
    const all = typeof options === 'object' && options !== null && 'all' in options && options.all === true
    return all
      ? setImmediate(callback, null, [{ address: '127.0.0.1', family: 4 }])
      : setImmediate(callback, null, '127.0.0.1', 4)
  }
  // Node reads this property at every connection; there is no other hook.
  Object.assign(dns, { lookup })
  return service
}
