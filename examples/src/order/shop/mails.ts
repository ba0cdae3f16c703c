import type { Database } from '../../database.ts'

export interface Mail {
  readonly orderId: string
  readonly recipient: string
  readonly subject: string
}

/** Sends a mail, once per `mailId`. Domains that end in `.invalid` have no mail server, here as in reality. */
export async function send(database: Database, { orderId, recipient, subject }: Mail, mailId: string) {
  if (recipient.endsWith('.invalid')) {
    throw new Error(`451: no mail server answers for ${recipient.split('@').at(-1)}`)
  }
  await database.query(
    `insert into shop.mails (mail_id, order_id, recipient, subject) values ($1, $2, $3, $4)
     on conflict (mail_id) do nothing`,
    [mailId, orderId, recipient, subject],
  )
  return { mailId }
}
