import { define } from '@belay/workflow'
import { z } from 'zod'

/** What the applications of this folder run. The handlers stand for calls of your own services. */
export const order = define('web-order', {
  version: 1,
  input: z.object({ item: z.string().min(1), onHold: z.boolean().default(false) }),
})
  .step('reserve', {
    run: ({ input }) => ({ reservation: `${input.item}-1` }),
    compensate: () => {},
  })
  .waitForSignal('released', {
    dependsOn: ['reserve'],
    when: ({ input }) => input.onHold,
    schema: z.object({ by: z.string().min(1) }),
  })
  .step('pack', {
    dependsOn: ['reserve', 'released'],
    // An order that is not on hold waits for nobody.
    onSkipped: 'run',
    run: async ({ deps, progress }) => {
      await progress(1, 1, 'packed')
      return `packed ${deps.reserve.reservation}`
    },
  })
