// Prints which modules a program loads that makes an engine on PostgreSQL. The hooks run in a thread of their own, so they write to a file.
import { readFileSync } from 'node:fs'
import { register } from 'node:module'

const hooks = `import { appendFileSync } from 'node:fs'
export async function load(url, context, next) {
  appendFileSync('loaded.txt', url + '\\n')
  return next(url, context)
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)

const { createEngine } = await import('@belay/workflow')
const { postgres } = await import('@belay/workflow-postgres')
const engine = createEngine({ adapter: postgres('postgres://nobody@localhost:1/none'), workflows: [] })
await engine.close()
process.stdout.write(readFileSync('loaded.txt', 'utf8'))
