// CommonJS programs load the packages with require(), which Node has for ES modules since 20.19.
const { createEngine, define } = require('@belay/workflow')
const { memory } = require('@belay/testing')

const greet = define('greet', { version: 1 }).step('hello', { run: () => 'hello' })
const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [greet] })
engine
  .start()
  .then(() => engine.run(greet))
  .then((run) => run.result())
  .then((outputs) => console.log(`require() works: ${outputs.hello}`))
  .finally(() => engine.close())
