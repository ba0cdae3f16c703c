#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { main } from './main.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader of the pipe that has seen enough, like `head`, is no failure.
  if (error.code === 'EPIPE') process.exit(0)
  const why = error.code === 'ENOSPC' ? 'there is no space left' : error.message
  process.stderr.write(`The output cannot be written: ${why}.\n`, () => process.exit(1))
})

// Nobody can be told any more.
process.stderr.on('error', () => process.exit(1))

const interrupted = new AbortController()
process.on('SIGINT', () => {
  // The second one does not wait.
  if (interrupted.signal.aborted) process.exit(130)
  interrupted.abort()
})

process.exitCode = await main(process.argv.slice(2), process, { version, signal: interrupted.signal })
