# A project that has its program audited.
cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C)
find_package(mpgtools REQUIRED)
add_executable(app app.c)
mpg_target_large_pages(app AUDIT)
