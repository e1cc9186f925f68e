/** A stand-in for a database driver. */
export const db = {
  async query(statement, values = []) {
    console.log('query', statement, values);
    return [{ statement, values }];
  },
};
