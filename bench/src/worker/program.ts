import { BenchWorker, type Verb } from './bench-worker.ts'
import type { CommandName, Commands, Message, Request } from './messages.ts'

// One process for each measured worker, so that none warms up, crowds or outlives another.

const worker = new BenchWorker((ended) => send({ kind: 'ended', ...ended }))

process.on('disconnect', () => process.exit())
process.on('message', (request: Request) => {
  const { id } = request
  obey(request).then(
    (answer) => send({ kind: 'answer', id, answer }),
    (error: unknown) =>
      send({ kind: 'error', id, message: error instanceof Error ? error.message : String(error) }),
  )
})

function obey<Name extends CommandName>({
  name,
  argument,
}: Request<Name>): Promise<Commands[Name]['answer']> {
  const verb = worker[name] as Verb<Name>
  return verb.call(worker, argument)
}

function send(message: Message): void {
  process.send?.(message)
}
