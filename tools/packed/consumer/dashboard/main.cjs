// The same package in CommonJS, as a route handler that gets a request.
const { dashboard } = require('@belay/dashboard')
const { memory } = require('@belay/testing')
const { createEngine } = require('@belay/workflow')

const engine = createEngine({ adapter: memory({ clock: 'real' }) })
const handler = dashboard({ engine, authorize: () => ({ by: 'ada', can: 'all' }) })

handler(new Request('https://shop.example/api/session'))
  .then((response) => response.json())
  .then(({ by }) => console.log(`require() works: ${by}`))
  .finally(() => engine.close())
