"""The store in a bucket of any service that has objects, conditions on their generations, and a clock."""
