import { define } from '@belay/workflow'
import { z } from 'zod'
import type { Effects } from './effects.ts'

const claimSchema = z.object({
  employee: z.string(),
  amountCents: z.number().int().positive(),
  for: z.string(),
})

/** A manager may approve less than was claimed. */
const decisionSchema = z.object({ limitCents: z.number().int().positive().optional() })

/**
 * An expense claim, which a manager decides whenever she comes to it:
 *
 *     reserveBudget ─▶ askManager ─▶ manager (approval, two weeks) ─▶ payOut
 *
 * Rejected, or not decided in two weeks, it fails, and the budget is released.
 */
export function expenseClaim({ act }: Effects) {
  return define('expense-claim', { version: 1, input: claimSchema })
    .step('reserveBudget', {
      run: ({ input, idempotencyKey }) =>
        act(`reserved ${input.amountCents} for ${input.for}`, idempotencyKey),
      compensate: ({ idempotencyKey }) => act('released the budget', idempotencyKey),
    })
    .step('askManager', {
      dependsOn: ['reserveBudget'],
      run: ({ input, idempotencyKey }) =>
        act(`mail: ${input.employee} claims ${input.amountCents} for ${input.for}`, idempotencyKey),
    })
    .approval('manager', { dependsOn: ['askManager'], schema: decisionSchema, timeout: '14d' })
    .step('payOut', {
      dependsOn: ['manager'],
      run: async ({ input, deps, idempotencyKey }) => {
        const paidCents = Math.min(input.amountCents, deps.manager.payload.limitCents ?? input.amountCents)
        await act(`paid ${paidCents} to ${input.employee}, approved by ${deps.manager.by}`, idempotencyKey)
        return { paidCents }
      },
    })
}
