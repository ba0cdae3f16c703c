import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { define, type InputIssues, unchecked } from '../../src/definition/index.ts'
import { BelayError } from '../../src/errors.ts'

const orderSchema = z.object({
  id: z.string(),
  items: z.array(z.object({ quantity: z.number().int() })),
  express: z.boolean().default(false),
})
const order = { id: 'o-1', items: [{ quantity: 2 }] }
const definition = define('checkout', { version: 1, input: orderSchema })

describe('an input', () => {
  it('becomes the output of the schema', async () => {
    expect(await definition.validate(order)).toEqual({ ...order, express: false })
  })

  it('is refused with the path of each issue', async () => {
    await expect(definition.validate({ id: 1, items: [{ quantity: 0.5 }] })).rejects.toSatisfy(
      (error) =>
        error instanceof BelayError &&
        error.code === 'invalid_input' &&
        /^The input for workflow "checkout" is not valid: id: .+; items\[0\]\.quantity: .+\. Nothing was started\.$/.test(
          error.message,
        ) &&
        (error.cause as InputIssues).issues.length === 2,
    )
  })

  it('of an asynchronous schema is awaited', async () => {
    const slow = orderSchema.refine(async ({ id }) => id !== 'taken', 'this order is taken')
    const workflow = define('checkout', { version: 1, input: slow })
    expect(await workflow.validate(order)).toEqual({ ...order, express: false })
    await expect(workflow.validate({ ...order, id: 'taken' })).rejects.toThrow(
      'not valid: this order is taken.',
    )
  })

  it('with many issues is refused with the first five and their number', async () => {
    const items = Array.from({ length: 8 }, () => ({ quantity: 'x' }))
    await expect(definition.validate({ id: 'o', items })).rejects.toThrow(
      /items\[4\]\.quantity: [^;]+; and 3 more\./,
    )
  })

  it('of a schema that throws is refused with its message', async () => {
    const broken = z.unknown().transform(() => {
      throw new Error('no connection')
    })
    const workflow = define('checkout', { version: 1, input: broken })
    await expect(workflow.validate(order)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('threw while it checked an input: no connection'),
    })
  })

  it('is not changed without a schema, or with unchecked()', async () => {
    expect(await define('w', { version: 1 }).validate(order)).toBe(order)
    expect(await define('w', { version: 1, input: unchecked<number>() }).validate(order)).toBe(order)
  })
})
