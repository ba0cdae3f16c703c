import { memory } from '@belay/testing'
import { createEngine, define, unchecked } from '@belay/workflow'

const greet = define('greet', { version: 1, input: unchecked<{ name: string }>() })
  .step('findName', { run: ({ input }) => input.name.trim() })
  .step('countLetters', { run: ({ input }) => input.name.trim().length })
  .step('greet', {
    dependsOn: ['findName', 'countLetters'],
    run: ({ deps }) => `Hello ${deps.findName}, your name has ${deps.countLetters} letters.`,
    compensate: ({ output }) => console.log(`Taking back: ${output}`),
  })

// A real program uses `postgres(process.env.DATABASE_URL)` or `pglite('./data')`. Nothing else changes.
const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [greet] })
await engine.start()

const run = await engine.run(greet, { name: ' Ada ' }, { key: 'greeting:ada' })
const outputs = await run.result()
console.log(outputs.greet)

await engine.close()
