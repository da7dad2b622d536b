-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- For sqlite3: a table of 50,000 rows, indexes, joins, sorts, deletions, vacuum.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, size INTEGER, data BLOB);
CREATE TABLE owner(item INTEGER, person TEXT);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
INSERT INTO item SELECT i, printf('item %d', i * 7919 % 50021), i * i % 4099,
  zeroblob(i % 300) FROM n;
INSERT INTO owner SELECT id, printf('person %d', id % 997) FROM item WHERE id % 3 = 0;
COMMIT;
CREATE INDEX byName ON item(name);
CREATE INDEX bySize ON item(size, name);
CREATE INDEX byPerson ON owner(person);
SELECT count(*), sum(size), sum(length(data)) FROM item;
SELECT person, count(*), sum(size) FROM owner JOIN item ON id = item
  GROUP BY person ORDER BY 3 DESC, 1 LIMIT 5;
SELECT name FROM item ORDER BY data DESC, substr(name, 3), id LIMIT 3;
SELECT length(group_concat(name)) FROM item;
UPDATE item SET data = hex(name) WHERE id % 5 = 0;
DELETE FROM item WHERE id % 2 = 0;
PRAGMA integrity_check;
VACUUM;
PRAGMA integrity_check;
PRAGMA page_count;
SELECT id, rank() OVER (ORDER BY size, id) FROM item ORDER BY 2 DESC LIMIT 3;
SELECT nothing FROM item;
