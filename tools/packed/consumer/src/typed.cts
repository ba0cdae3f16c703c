// A CommonJS file of a TypeScript project: it has the same types, and on Node the same classes, as the modules beside it.
import belay = require('@belay/workflow')

const { define } = belay
const greet = define('greet', { version: 1 }).step('hello', { run: () => 'hello' })
const steps: readonly string[] = greet.steps.map(({ name }) => name)

void import('@belay/workflow').then(({ BelayError }) => {
  console.log(`one copy: ${steps.length === 1 && BelayError === belay.BelayError}`)
})
