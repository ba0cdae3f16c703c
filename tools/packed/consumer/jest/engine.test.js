// Jest loads packages as CommonJS unless it is told otherwise.
const { BelayError, createEngine, define, PermanentError } = require('@belay/workflow')
const port = require('@belay/workflow/adapter')
const { memory } = require('@belay/testing')
const { postgres } = require('@belay/workflow-postgres')

const undone = []
const order = define('order', { version: 1 })
  .step('reserve', { run: () => 'r-1', compensate: ({ output }) => undone.push(output) })
  .step('ship', {
    dependsOn: ['reserve'],
    run: () => {
      throw new PermanentError('nothing on the shelf')
    },
  })

test('an engine runs and undoes a workflow', async () => {
  const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [order] })
  await engine.start()
  const run = await engine.run(order)
  await expect(run.result()).rejects.toThrow(/nothing on the shelf/)
  expect(undone).toEqual(['r-1'])
  await engine.close()
})

test('there is one copy of each class', () => {
  expect(port.BelayError).toBe(BelayError)
  expect(() => postgres('no url')).toThrow(BelayError)
})

test('errors of another copy are recognised', async () => {
  const path = require.resolve('@belay/workflow')
  jest.resetModules()
  const other = require(path)
  expect(other.BelayError).not.toBe(BelayError)
  expect(BelayError.is(new other.PermanentError('no'))).toBe(true)
})
