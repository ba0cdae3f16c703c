import { hasMethods, isShape, type Recogniser, type Shape } from '../given-transaction.ts'

export const typeorm: Recogniser = (tx) => {
  if (isRunner(tx)) return ofRunner(tx)
  if (!hasMethods(tx, 'getRepository', 'transaction')) return undefined
  if (hasMethods(tx, 'createQueryRunner')) {
    return { what: 'a DataSource of TypeORM', because: ', not a transaction in it' }
  }
  const runner = tx['queryRunner']
  if (isShape(runner) && isRunner(runner)) return ofRunner(runner)
  return { what: 'an EntityManager of TypeORM', because: ' outside a transaction' }
}

type Runner = Shape & Record<'connect', () => Promise<unknown>>

function isRunner(value: Shape): value is Runner {
  return hasMethods(value, 'connect', 'startTransaction') && typeof value['isTransactionActive'] === 'boolean'
}

function ofRunner(runner: Runner): ReturnType<Recogniser> {
  if (runner['isTransactionActive'] === true && runner['isReleased'] !== true) {
    return { driver: 'held', library: 'TypeORM', connection: () => runner.connect() }
  }
  return { what: 'a QueryRunner of TypeORM', because: ' on which no transaction is open' }
}
