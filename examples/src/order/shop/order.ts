import * as z from 'zod'

/** An order as the shop's checkout sends it. */
export const orderSchema = z.object({
  id: z.string().min(1),
  customer: z.object({ name: z.string(), email: z.email() }),
  card: z.string(),
  items: z.array(z.object({ sku: z.string(), quantity: z.int().positive() })).min(1),
})

export type Order = z.infer<typeof orderSchema>
