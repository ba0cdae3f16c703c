import { define } from '@belay/workflow'
import { z } from 'zod'

/** What the applications of this folder run. The handlers stand for calls of your own services. */
export const order = define('web-order', {
  version: 1,
  input: z.object({ item: z.string().min(1), later: z.boolean().default(false) }),
})
  .step('reserve', {
    run: ({ input }) => ({ reservation: `${input.item}-1` }),
    compensate: () => {},
  })
  .sleep('dispatch', { dependsOn: ['reserve'], for: ({ input }) => (input.later ? '1d' : 0) })
  .step('pack', {
    dependsOn: ['reserve', 'dispatch'],
    run: async ({ deps, progress }) => {
      await progress(1, 1, 'packed')
      return `packed ${deps.reserve.reservation}`
    },
  })
